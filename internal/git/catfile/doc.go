// Package catfile reads objects by processes of `git cat-file --batch-command`: one
// exchange is much cheaper than one process. It knows directories, and no repository.
//
//	process.go   one process: Start, End; how an answer begins, and what its errors mean
//	contents.go  Info, Infos and Named; Contents and Open
//	commits.go   many commits at once
//	trees.go     the trees of a push, many ahead
//	pool.go      Pool keeps processes between requests
//
// A method that leaves an answer half read says so by its error, [DirtyError] or
// [SpentError]: the process must then end. Package git decides, by the same errors, when a
// read is worth another process.
package catfile
