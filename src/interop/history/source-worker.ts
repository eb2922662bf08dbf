import { errorAnswer, READY, type SourceAnswer, type SourceRequest } from "./source-process.ts";
import { SOURCE_TASKS } from "./source-tasks.ts";

// The program of `SourceProcess`: does the tasks that it receives.
function answer({ name, args }: SourceRequest): SourceAnswer {
  try {
    return { value: Reflect.apply(SOURCE_TASKS[name], undefined, args) };
  } catch (error) {
    return errorAnswer(error);
  }
}

process.on("message", (request: SourceRequest) => {
  try {
    process.send?.(answer(request));
  } catch (error) {
    // A result that is too large to be sent.
    process.send?.(errorAnswer(error));
  }
});
process.send?.(READY);
