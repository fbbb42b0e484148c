package transport

import "arbor/internal/git/wire"

// MaxRefs is how many refs a repository may have after a push.
const MaxRefs = maxRefs

// RefusedForCount is what becomes of each command in a repository of so many refs.
func RefusedForCount(have int, commands []wire.Command) []wire.RefResult {
	p := &push{request: &wire.PushRequest{Commands: commands}, results: make([]wire.RefResult, len(commands))}
	p.checkCount(have)
	return p.results
}
