/** What is wrong with a configuration: every fault at once. */

export class ConfigurationError extends Error {
  readonly code = 'configuration';
  constructor(readonly faults: readonly ConfigurationFault[]) {
    super(
      ['The configuration is invalid:', ...faults.map(({ variable, problem }) => `  ${variable}: ${problem}`)].join(
        '\n',
      ),
    );
    this.name = 'ConfigurationError';
  }
}

export interface ConfigurationFault {
  readonly variable: string;
  readonly problem: string;
}
