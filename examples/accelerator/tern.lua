layout "TERN_MAP" {
  doc   = "groups of 32 channels, strips of 8 columns; a group begins at a multiple of 4096 bytes",
  dims  = { N, C, H, W },
  order = { N, C // 32, W // 8, H, W % 8, C % 32 },
  pitch = { [2] = 4096 },
  fill  = 0,
}

layout "TERN_WEIGHTS" {
  doc   = "tiles of 16 outputs by 32 inputs for each position of the window; four inputs together",
  dims  = { O, I, Y, X },
  order = { O // 16, I // 32, Y, X, I % 32 // 4, O % 16, I % 4 },
  fill  = 0,
}
