//go:build long

package clients

import (
	"testing"

	"arbor/internal/test/tool"
)

// program is one that Go builds from its module proxy.
type program struct {
	name   string
	module string // PATH@VERSION
	dir    string // of its package, in the module
	sums   string // lines of go.sum for the module, where the checksum database lacks them
}

// build is tool.Program.Build.
func (p program) build(t *testing.T) string {
	t.Helper()
	return tool.Program{Name: p.name, Module: p.module, Dir: p.dir, Sums: p.sums}.Build(t)
}
