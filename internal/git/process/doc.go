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
// The caller names the cage of each process; no cage is the default. What a process may take follows from
// its work. A cage limits data (RLIMIT_DATA; packs that git maps do not count) and, where a request
// waits, processor time. Caches, windows and threads of git are set to fit. A process that needs more
// ends, and its request is a 422; an object that a pooled process cannot hold is read again by one
// of its own.
package process
