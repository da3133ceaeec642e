// A window on a long axis that a reader zooms and moves.

export interface Span {
  from: number;
  to: number;
}

export function clamped(span: Span, low: number, high: number, least: number): Span {
  const length = Math.min(Math.max(span.to - span.from, least), high - low);
  const from = Math.min(Math.max(span.from, low), high - length);
  return { from, to: from + length };
}

// `place` stays where it is on the screen.
export function zoomed(span: Span, scale: number, place: number): Span {
  return { from: place - (place - span.from) * scale, to: place + (span.to - place) * scale };
}

export function moved(span: Span, by: number): Span {
  return { from: span.from + by, to: span.to + by };
}

export interface Gestures {
  zoom(scale: number, x: number, y: number): void;
  pan(dx: number, dy: number): void;
  click?(x: number, y: number, event: MouseEvent): void;
  hover?(x: number, y: number, event: MouseEvent): void;
  leave?(): void;
  // A drag that begins here selects a range in place of moving the view.
  selects?(x: number, y: number, event: MouseEvent): boolean;
  select?(from: number, to: number, done: boolean): void;
  key?(key: string): boolean; // whether it was one of the chart's keys
}

// The wheel zooms a chart that has the focus (after a click) or with Ctrl held; else the page scrolls past it.
export function gestures(canvas: HTMLCanvasElement, on: Gestures): void {
  let down: { x: number; y: number; lastX: number; lastY: number; dragged: boolean; selecting: boolean } | null = null;
  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener(
    'wheel',
    (event) => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        on.pan(-event.deltaX, 0);
      } else if (event.shiftKey) {
        event.preventDefault();
        on.pan(-event.deltaY, 0);
      } else if (event.ctrlKey || event.metaKey || document.activeElement === canvas) {
        event.preventDefault();
        const { x, y } = place(event);
        on.zoom(Math.exp(Math.min(Math.max(event.deltaY, -240), 240) * 0.0022), x, y);
      }
    },
    { passive: false },
  );
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    const { x, y } = place(event);
    down = {
      x,
      y,
      lastX: x,
      lastY: y,
      dragged: false,
      selecting: event.shiftKey || (on.selects?.(x, y, event) ?? false),
    };
  });
  canvas.addEventListener('pointermove', (event) => {
    const { x, y } = place(event);
    if (!down) {
      on.hover?.(x, y, event);
      return;
    }
    if (Math.hypot(x - down.x, y - down.y) > 3) down.dragged = true;
    if (!down.dragged) return;
    if (down.selecting) on.select?.(down.x, x, false);
    else on.pan(x - down.lastX, y - down.lastY);
    down.lastX = x;
    down.lastY = y;
  });
  const released = (event: PointerEvent) => {
    if (!down) return;
    const { x, y } = place(event);
    const was = down;
    down = null;
    if (!was.dragged) on.click?.(x, y, event);
    else if (was.selecting) on.select?.(was.x, x, true);
  };
  canvas.addEventListener('pointerup', released);
  canvas.addEventListener('pointercancel', () => (down = null));
  canvas.addEventListener('pointerleave', () => {
    if (!down) on.leave?.();
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (on.key?.(event.key)) event.preventDefault();
  });
}
