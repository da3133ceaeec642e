// Where tensors lie in a memory: time across, addresses up, coloured by role.
import { button, h, type Child } from '../base/dom';
import { inkOn, namedColour } from '../base/colours';
import { Missing } from '../base/read';
import { colour } from '../base/theme';
import { byteSize, cyclesText, timeMarks } from '../base/units';
import { fitted, setFont, surface } from '../charts/surface';
import { binaryTicks, linearTicks } from '../charts/ticks';
import { facts, hideTooltip, showTooltip } from '../charts/tooltip';
import { clamped, gestures, moved, zoomed, type Span } from '../charts/view';
import { decodeLifetimes, type Lifetimes } from '../decode/lifetimes';
import { horizon, type Evaluation, type Memory } from '../decode/result';

const left = 74;
const bottom = 26;
const decoded = new WeakMap<Evaluation, Lifetimes>();

export function addressMap(evaluation: Evaluation, memory: Memory): Child {
  const { clock } = evaluation;
  const lives = decoded.get(evaluation) ?? decodeLifetimes(evaluation.raw.lifetimes);
  decoded.set(evaluation, lives);
  const index = lives.memories.indexOf(memory.name);
  const stays: number[] = [];
  let top = 0;
  for (let i = 0; i < lives.count; ++i) {
    if (lives.memory[i] !== index || !(lives.address[i] >= 0)) continue;
    stays.push(i);
    top = Math.max(top, lives.address[i] + lives.bytes[i]);
  }
  if (index < 0 || stays.length === 0) throw new Missing(`Nothing in ${memory.name} has an address: it is not packed.`);
  const total = horizon(evaluation.result);
  let time: Span = { from: 0, to: total };
  let place: Span = { from: 0, to: top };

  const map = surface({
    height: 320,
    label: `Addresses in ${memory.name} over time: ${stays.length} stays`,
    focusable: true,
    draw: (context, width, height) => {
      const wide = width - left;
      const tall = height - bottom;
      const x = (t: number) => left + ((t - time.from) / (time.to - time.from)) * wide;
      const y = (a: number) => tall - ((a - place.from) / (place.to - place.from)) * tall;
      context.fillStyle = colour('track');
      context.fillRect(left, 0, wide, tall);
      context.save();
      context.beginPath();
      context.rect(left, 0, wide, tall);
      context.clip();
      setFont(context, 10);
      context.textBaseline = 'middle';
      let drawn = 0;
      for (const i of stays) {
        const x0 = x(lives.start[i]);
        const x1 = x(lives.end[i]);
        const y0 = y(lives.address[i] + lives.bytes[i]);
        const y1 = y(lives.address[i]);
        if (x1 < left || x0 > width || y1 < 0 || y0 > tall) continue;
        const w = Math.max(0.75, x1 - x0);
        const tallness = Math.max(0.5, y1 - y0);
        const paint = namedColour(lives.roles[lives.role[i]] ?? '', lives.role[i]);
        context.fillStyle = paint;
        context.fillRect(x0, y0, w > 3 ? w - 0.5 : w, tallness > 3 ? tallness - 0.5 : tallness);
        ++drawn;
        if (w > 60 && tallness > 12) {
          context.fillStyle = inkOn(paint);
          context.fillText(
            fitted(lives.names[lives.name[i]] ?? '', Math.min(x1, width) - Math.max(x0, left) - 8, 5.4),
            Math.max(x0, left) + 4,
            (Math.max(y0, 0) + Math.min(y1, tall)) / 2,
          );
        }
      }
      context.restore();
      map.canvas.dataset.rects = String(drawn);
      paintAxes(context, width, height);
    },
  });

  function paintAxes(context: CanvasRenderingContext2D, width: number, height: number): void {
    const tall = height - bottom;
    setFont(context, 11);
    context.fillStyle = colour('quiet');
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const tick of binaryTicks(place.from, place.to, 6)) {
      const y = tall - ((tick - place.from) / (place.to - place.from)) * tall;
      context.fillText(byteSize(tick), left - 8, Math.min(Math.max(y, 6), tall - 2));
    }
    context.textAlign = 'center';
    const unit = clock.hertz ?? 1;
    const ticks = linearTicks(time.from / unit, time.to / unit, (width - left) / 110);
    const marks = clock.hertz === null ? ticks.map(cyclesText) : timeMarks(ticks);
    ticks.forEach((tick, k) => {
      const x = left + ((tick * unit - time.from) / (time.to - time.from)) * (width - left);
      if (x > left + 10 && x < width - 20) context.fillText(marks[k], x, tall + 14);
    });
    context.textAlign = 'left';
  }

  const at = (x: number, y: number) => ({
    t: time.from + ((x - left) / Math.max(1, map.width() - left)) * (time.to - time.from),
    a: place.from + ((map.height() - bottom - y) / (map.height() - bottom)) * (place.to - place.from),
  });
  const set = (nextTime: Span, nextPlace: Span) => {
    time = clamped(nextTime, 0, total, total * 1e-6);
    place = clamped(nextPlace, 0, top, Math.max(16, top * 1e-6));
    map.redraw();
  };
  const fit = () => set({ from: 0, to: total }, { from: 0, to: top });
  gestures(map.canvas, {
    zoom: (scale, x, y) => {
      const { t, a } = at(x, y);
      set(zoomed(time, scale, t), zoomed(place, scale, a));
    },
    pan: (dx, dy) =>
      set(
        moved(time, (-dx / Math.max(1, map.width() - left)) * (time.to - time.from)),
        moved(place, (dy / (map.height() - bottom)) * (place.to - place.from)),
      ),
    hover: (x, y, event) => {
      const { t, a } = at(x, y);
      const under =
        x < left
          ? -1
          : (stays.find(
              (i) =>
                lives.start[i] <= t &&
                t <= lives.end[i] &&
                lives.address[i] <= a &&
                a < lives.address[i] + lives.bytes[i],
            ) ?? -1);
      if (under < 0) return hideTooltip();
      showTooltip(
        event,
        h('strong', null, lives.names[lives.name[under]] ?? '?'),
        facts([
          ['role', lives.roles[lives.role[under]] ?? ''],
          ['size', byteSize(lives.bytes[under])],
          ['address', `${lives.address[under].toLocaleString('en-US')}`],
          ['from', clock.text(lives.start[under])],
          ['to', clock.text(lives.end[under])],
        ]),
      );
    },
    leave: hideTooltip,
    key: (key) => {
      const middle = { t: (time.from + time.to) / 2, a: (place.from + place.to) / 2 };
      if (key === '+' || key === '=') set(zoomed(time, 0.7, middle.t), zoomed(place, 0.7, middle.a));
      else if (key === '-') set(zoomed(time, 1.4, middle.t), zoomed(place, 1.4, middle.a));
      else if (key === '0' || key === 'f') fit();
      else if (key.startsWith('Arrow')) {
        const across = key === 'ArrowLeft' ? -0.15 : key === 'ArrowRight' ? 0.15 : 0;
        const up = key === 'ArrowUp' ? 0.15 : key === 'ArrowDown' ? -0.15 : 0;
        set(moved(time, across * (time.to - time.from)), moved(place, up * (place.to - place.from)));
      } else return false;
      return true;
    },
  });
  return [
    h('div', { class: 'address-map' }, map.canvas),
    h(
      'div',
      { class: 'controls' },
      h('span', { class: 'quiet hint' }, 'Click, then wheel or + − to zoom, drag to move.'),
      h('span', { class: 'spacer' }),
      button('Fit', 'Show all of the memory', fit),
    ),
  ];
}
