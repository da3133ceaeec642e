// Rectangles of flat colours written straight into pixels: tens of thousands cost a few milliseconds, where as many
// calls of a canvas cost a hundred.

export type Pixel = number; // as bytes lie in memory: 0xAABBGGRR

export class Raster {
  private pixels: Uint32Array = new Uint32Array(0);
  private image: ImageData | null = null;

  // Clears, for a picture of so many pixels of the screen.
  begin(width: number, height: number): void {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(Math.max(1, width), Math.max(1, height));
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else this.pixels.fill(0);
  }

  // At least one pixel wide and high; what is outside is left out.
  fill(left: number, top: number, right: number, bottom: number, pixel: Pixel): void {
    const { width, height } = this.image!;
    const x0 = Math.max(0, Math.round(left));
    const x1 = Math.min(width, Math.max(Math.round(right), x0 + 1));
    const y0 = Math.max(0, Math.round(top));
    const y1 = Math.min(height, Math.max(Math.round(bottom), y0 + 1));
    if (x1 <= x0) return;
    const { pixels } = this;
    if (x1 - x0 > 8) {
      for (let y = y0; y < y1; ++y) pixels.fill(pixel, y * width + x0, y * width + x1);
      return;
    }
    // Most bars are a pixel wide: plain writes are faster than calls.
    for (let y = y0; y < y1; ++y) {
      for (let at = y * width + x0, end = y * width + x1; at < end; ++at) pixels[at] = pixel;
    }
  }

  paint(context: CanvasRenderingContext2D): void {
    context.putImageData(this.image!, 0, 0);
  }
}

// "#rrggbb" over a background of the same form, with a strength of 0 to 1.
export function mixed(colour: string, background: string, strength: number): Pixel {
  const front = channels(colour);
  const back = channels(background);
  const [r, g, b] = front.map((value, k) => Math.round(value * strength + back[k] * (1 - strength)));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function channels(hex: string): [number, number, number] {
  const value = /^#[0-9a-f]{6}$/i.test(hex) ? parseInt(hex.slice(1), 16) : 0x888888;
  return [value >> 16, (value >> 8) & 255, value & 255];
}
