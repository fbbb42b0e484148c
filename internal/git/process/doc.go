// Package process starts git and says how it ended. It knows nothing of repositories
// but the directory that a task names.
//
//	command.go      which git commands may run, with which options
//	environment.go  configuration and environment
//	process.go      how they run: deadline, group
//	ended.go        how they ended, and what they said
//	cage.go         what each may take: memory, processor time
//	programs.go     programs that git must not start, and filters that a clone must not use
//
// No byte that a client sends is an option, a path or a revision of a command. A
// process ends with its context, and in its cage: its children are in the cage as well.
//
// The caller chooses the cage of each process by the work that it does; there is no default. A cage limits
// memory (RLIMIT_DATA, which does not count packs that git maps) and, if a request waits for the process, CPU
// time. Git's caches, windows and threads are configured to fit. A process that exceeds a limit ends, and its
// request is a 422; an object that is too large for a pooled process is read again by a process of its own.
package process
