// A canvas as wide as its place, sharp on any screen, drawn again when size or colours change.
import { h } from '../base/dom';
import { onRedraw } from '../base/theme';

export interface Surface {
  canvas: HTMLCanvasElement;
  width(): number;
  height(): number;
  redraw(): void; // at the next frame
  resize(height: number): void;
}

export interface SurfaceOptions {
  height: number;
  label: string; // for readers who cannot see it
  draw(context: CanvasRenderingContext2D, width: number, height: number): void;
  focusable?: boolean;
}

export function surface(options: SurfaceOptions): Surface {
  const canvas = h('canvas', {
    class: 'surface',
    role: 'img',
    'aria-label': options.label,
    tabindex: options.focusable ? 0 : null,
  });
  let width = 0;
  let height = options.height;
  let waiting = 0;

  const draw = () => {
    waiting = 0;
    if (width <= 0) return;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const began = performance.now();
    options.draw(context, width, height);
    canvas.dataset.frameMs = (performance.now() - began).toFixed(2);
    canvas.dataset.frames = String(Number(canvas.dataset.frames ?? 0) + 1);
  };
  const measure = () => {
    const next = Math.floor(canvas.parentElement?.clientWidth ?? 0);
    const changed = next !== width;
    width = next;
    return changed;
  };
  const redraw = () => {
    if (waiting === 0) waiting = requestAnimationFrame(draw);
  };
  new ResizeObserver(() => {
    if (measure()) redraw();
  }).observe(canvas);
  onRedraw(() => {
    measure();
    cancelAnimationFrame(waiting);
    draw(); // at once: paper does not wait for a frame
  });
  return {
    canvas,
    width: () => width,
    height: () => height,
    redraw,
    resize: (next) => {
      height = next;
      canvas.style.height = `${height}px`;
      redraw();
    },
  };
}

export function pointIn(
  canvas: HTMLCanvasElement,
  event: { clientX: number; clientY: number },
): { x: number; y: number } {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

const font = '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export function setFont(context: CanvasRenderingContext2D, size: number, weight = 400): void {
  context.font = `${weight} ${size}px ${font}`;
}

// Text cut to a width. Characters are taken as equally wide, which is much faster than measuring.
export function fitted(text: string, width: number, characterWidth = 6): string {
  const most = Math.floor(width / characterWidth);
  if (text.length <= most) return text;
  return most < 4 ? '' : `${text.slice(0, most - 1)}…`;
}

// The same, with the middle left out: names of operators differ at their ends.
export function shortened(text: string, width: number, characterWidth = 6): string {
  const most = Math.floor(width / characterWidth);
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) * 0.45);
  return most < 4 ? '' : `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}
