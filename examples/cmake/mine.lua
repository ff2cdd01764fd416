layout "MINE" {
  doc   = "channels in blocks of C0, rows padded to 64 bytes",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { N, C // C0, H, W, C % C0 },
  pitch = { H = 64 },
  fill  = 0,
}
