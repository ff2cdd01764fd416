"""A feature map to convert: a rendered picture under a bank of oriented filters, the
first layer of a vision network in miniature.  Writes OUT.npy, f16 (2, 20, 240, 320)."""
import sys

import numpy as np


def picture(width, height, centre, scale):
    """The Mandelbrot set, brightness by escape time, as floats in 0..1."""
    y, x = np.mgrid[0:height, 0:width]
    c = centre + scale * ((x - width / 2) + 1j * (y - height / 2)) / width
    z = np.zeros_like(c)
    escape = np.zeros(c.shape)
    for i in range(60):
        inside = np.abs(z) < 4
        z[inside] = z[inside] ** 2 + c[inside]
        escape[inside] = i
    return escape / escape.max()


def gabor(angle, wavelength, size=9):
    """An oriented band-pass filter (Gabor), zero mean."""
    y, x = np.mgrid[0:size, 0:size] - size // 2
    u = x * np.cos(angle) + y * np.sin(angle)
    g = np.exp(-(x**2 + y**2) / (size / 3) ** 2) * np.cos(2 * np.pi * u / wavelength)
    return g - g.mean()


def filtered(image, kernel):
    """Circular convolution, by Fourier transform."""
    padded = np.zeros_like(image)
    padded[: kernel.shape[0], : kernel.shape[1]] = kernel
    return np.real(np.fft.ifft2(np.fft.fft2(image) * np.fft.fft2(padded)))


def main(out):
    views = [picture(320, 240, -0.7435 + 0.1314j, 0.01), picture(320, 240, -0.5, 3.0)]
    bank = [gabor(a * np.pi / 5, w) for a in range(5) for w in (3, 4, 6, 8)]
    maps = np.stack([[filtered(v, k) for k in bank] for v in views])
    np.save(out, maps.astype("f2"))


main(sys.argv[1])
