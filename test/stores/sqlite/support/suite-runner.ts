/** Outcome of the suite in a runtime without a test runner. */
export interface SuiteOutcome {
  readonly passed: number;
  readonly failures: readonly string[];
}

/** Collects tests and runs them one after another. */
export class SuiteRunner {
  readonly #tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];

  readonly test = (name: string, run: () => Promise<void>): void => {
    this.#tests.push({ name, run });
  };

  async run(): Promise<SuiteOutcome> {
    const failures: string[] = [];
    for (const { name, run } of this.#tests) {
      try {
        await run();
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
    return { passed: this.#tests.length - failures.length, failures };
  }
}
