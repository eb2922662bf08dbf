import { makeErrorAnswer, READY, type SourceAnswer, type SourceRequest } from "./source-process.ts";
import { SOURCE_TASKS } from "./source-tasks.ts";

// The program that `SourceProcess` starts. It runs the tasks that it receives.
function answerRequest({ name, args }: SourceRequest): SourceAnswer {
  try {
    return { value: Reflect.apply(SOURCE_TASKS[name], undefined, args) };
  } catch (error) {
    return makeErrorAnswer(error);
  }
}

process.on("message", (request: SourceRequest) => {
  try {
    process.send?.(answerRequest(request));
  } catch (error) {
    // The result may be too large to send.
    process.send?.(makeErrorAnswer(error));
  }
});
process.send?.(READY);
