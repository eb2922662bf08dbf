import { closeQuietly, type FileSystem } from "./file-system.ts";

/** Open descriptor that the pool may close when another descriptor needs its slot. */
export interface Descriptor {
  /** The descriptor's number; undefined after it was closed. */
  fd: number | undefined;
  readonly fs: FileSystem;
  /** Whether it has been used since the last sweep. */
  isFresh: boolean;
  /** Number of reads in progress. */
  readers: number;
}

/**
 * Maximum number of open descriptors. Higher than the number of sessions that a process writes to at a time, and far below the
 * number of files that it may open.
 */
const MAX_OPEN = 64;
const SWEEP_MS = 30_000;

/** In order of last use, oldest first. */
const open = new Set<Descriptor>();
let sweeper: NodeJS.Timeout | undefined;

const collected = new FinalizationRegistry<Descriptor>(releaseDescriptor);

/**
 * Adds a descriptor to the pool. It is closed when it has been idle for half a minute, when 64 other descriptors have been used
 * since then, when its owner is garbage-collected, or by `releaseDescriptor`.
 */
export function poolDescriptor(fs: FileSystem, fd: number, owner: object): Descriptor {
  const descriptor: Descriptor = { fd, fs, isFresh: true, readers: 0 };
  open.add(descriptor);
  collected.register(owner, descriptor, descriptor);
  for (const oldest of open) {
    if (open.size <= MAX_OPEN) break;
    releaseDescriptor(oldest);
  }
  sweeper ??= setInterval(closeIdle, SWEEP_MS).unref();
  return descriptor;
}

/** Records that a descriptor is in use. */
export function touchDescriptor(descriptor: Descriptor): void {
  if (descriptor.isFresh) return;
  descriptor.isFresh = true;
  open.delete(descriptor);
  open.add(descriptor);
}

/** Begins a read. Until the returned function is called, `fd` is not closed, even if the descriptor is released. */
export function keepForReading(descriptor: Descriptor, fd: number): () => void {
  descriptor.readers++;
  return () => {
    descriptor.readers--;
    if (descriptor.fd === undefined && descriptor.readers === 0) closeQuietly(descriptor.fs, fd);
  };
}

/** Closes a descriptor if it is open. Never throws, because the error would surface in an unrelated call. */
export function releaseDescriptor(descriptor: Descriptor): void {
  const { fd } = descriptor;
  if (fd === undefined) return;
  descriptor.fd = undefined;
  open.delete(descriptor);
  collected.unregister(descriptor);
  if (descriptor.readers === 0) closeQuietly(descriptor.fs, fd);
}

function closeIdle(): void {
  for (const descriptor of [...open]) {
    if (!descriptor.isFresh) releaseDescriptor(descriptor);
    descriptor.isFresh = false;
  }
  if (open.size > 0) return;
  clearInterval(sweeper);
  sweeper = undefined;
}
