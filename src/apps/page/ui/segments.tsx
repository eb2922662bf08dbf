interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly choices: readonly (readonly [value: T, word: string, hint?: string])[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** A choice of one among few. */
export function Segments<T extends string>({ label, choices, chosen, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map(([value, word, hint]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          title={hint}
          data-value={value}
          onClick={() => onChoose(value)}
        >
          {word}
        </button>
      ))}
    </fieldset>
  );
}
