// The machine: a preset or a text of one's own, and sliders over its parameters.
import { button, fill, h } from '../base/dom';
import { object, text } from '../base/read';
import { ask } from './ask';
import { afterwards, in_turn } from './turns';
import { wanted } from './wanted';

export const machinePlace = h('div', { class: 'panel' });
export const sliderPlace = h('div', { class: 'panel' });

type Evaluate = (keep: boolean) => Promise<void>;

function factors(base: number): number[] {
  const steps = [0.125, 0.25, 0.5, 1, 2, 4, 8].map((times) => base * times);
  return steps.filter((v) => Number.isInteger(v) || !Number.isInteger(base));
}

// A slider for a number, around the value of the machine; a text for what is none.
function parameterControl(name: string, value: string, evaluate: Evaluate): HTMLElement {
  const form = /^(\d+(?:\.\d+)?)(.*)$/;
  const now = form.exec(wanted.set[name] ?? value);
  const base = form.exec(value);
  const change = (said: string) => {
    if (said === value) delete wanted.set[name];
    else wanted.set[name] = said;
    wanted.plan = '';
    void evaluate(false);
  };
  if (!now || !base || Number(base[1]) <= 0) {
    const field: HTMLInputElement = h('input', { value: wanted.set[name] ?? value, change: () => change(field.value) });
    return h('label', { class: 'field' }, name, field);
  }
  const steps = factors(Number(base[1]));
  if (!steps.includes(Number(now[1]))) steps.push(Number(now[1]));
  steps.sort((a, b) => a - b);
  const label = h('output', null, `${now[1]}${base[2]}`);
  const slider: HTMLInputElement = h('input', {
    type: 'range',
    min: 0,
    max: steps.length - 1,
    step: 1,
    value: steps.indexOf(Number(now[1])),
    'aria-label': name,
    input: () => {
      const said = `${steps[Number(slider.value)]}${base[2]}`;
      label.textContent = said;
      change(said);
    },
  });
  return h('div', { class: 'slider' }, h('span', null, name), label, slider);
}

export async function showMachine(evaluate: Evaluate): Promise<void> {
  const found = object(await ask(`/api/machines/${encodeURIComponent(wanted.machine)}`));
  const own = wanted.yaml ? object(await ask('/api/machines', wanted.yaml)) : found;
  const parameters = Object.entries(object(own.parameters)).map(([name, value]) => [name, text(value)] as const);
  const editor: HTMLTextAreaElement = h('textarea', { 'aria-label': 'The machine as YAML', spellcheck: 'false' });
  editor.value = wanted.yaml || text(found.text);
  fill(
    machinePlace,
    h('p', { class: 'quiet' }, text(own.description)),
    h(
      'details',
      { open: wanted.yaml !== '' },
      h('summary', null, wanted.yaml ? 'Edited machine' : 'Edit as YAML'),
      editor,
      h(
        'div',
        { class: 'row' },
        button('Use it', 'Check the text and use it', () =>
          void in_turn(async () => {
            await ask('/api/machines', editor.value);
            wanted.yaml = editor.value;
            wanted.set = {};
            wanted.plan = '';
            await showMachine(evaluate);
            afterwards(() => Promise.resolve(void evaluate(true)));
          }),
        ),
        button('Back to the preset', 'Forget the changes', () => {
          wanted.yaml = '';
          wanted.set = {};
          void in_turn(() => showMachine(evaluate));
        }),
      ),
    ),
  );
  fill(
    sliderPlace,
    parameters.length > 0 && h('p', { class: 'quiet' }, 'Parameters: a move evaluates at once'),
    parameters.map(([name, value]) => parameterControl(name, value, evaluate)),
  );
}
