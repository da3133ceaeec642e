// Places for the names of points: beside them where there is room, else further off with a line to the point. No name
// covers another or a point.

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Label {
  x: number; // left end of the text's middle line
  y: number;
  line: boolean; // it stands so far off that a line should lead to its point
}

const turns = [0, 4, 8, 12, 2, 14, 6, 10, 1, 15, 7, 9, 3, 13, 5, 11]; // of 16: right, below, left, above first

// `widths`: of the texts, all `height` high. `radius`: of the points. null: there is no room.
export function placeLabels(
  points: { x: number; y: number }[],
  widths: number[],
  height: number,
  radius: number,
  within: Box,
): (Label | null)[] {
  const taken: Box[] = points.map((p) => around(p.x, p.y, 2 * radius, 2 * radius));
  // Those with the fewest neighbours have a choice: the crowded ones first.
  const crowd = points.map((p) => points.filter((q) => Math.hypot(p.x - q.x, p.y - q.y) < 6 * height).length);
  const order = points.map((_, i) => i).sort((a, b) => crowd[b] - crowd[a] || a - b);
  const labels: (Label | null)[] = points.map(() => null);
  for (const i of order) {
    const found = firstFree(points[i], widths[i], height, radius, within, taken);
    if (!found) continue;
    labels[i] = found.label;
    taken.push(found.box);
  }
  return labels;
}

function firstFree(
  point: { x: number; y: number },
  width: number,
  height: number,
  radius: number,
  within: Box,
  taken: Box[],
): { label: Label; box: Box } | null {
  for (let ring = 0; ring < 12; ++ring) {
    const distance = radius + 3 + ring * height * 0.75;
    for (const turn of turns) {
      const angle = (turn / 8) * Math.PI;
      // The text's nearest edge is at that distance, its middle further by half of it.
      const x = point.x + Math.cos(angle) * (distance + width / 2);
      const y = point.y + Math.sin(angle) * (distance + height / 2);
      const box = around(x, y, width, height);
      if (box.left < within.left || box.right > within.right || box.top < within.top || box.bottom > within.bottom)
        continue;
      if (taken.some((other) => overlap(box, other))) continue;
      return { label: { x: box.left, y, line: ring > 1 }, box };
    }
  }
  return null;
}

function around(x: number, y: number, width: number, height: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

export function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
