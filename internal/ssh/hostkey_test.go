package ssh

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// Clients remember a server by its keys: nodes that start at once on one folder have the same, and no later
// start changes them.
func TestHostKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ssh")
	var all sync.WaitGroup
	found := make([][]byte, 4)
	start := func(n int) {
		signers, err := HostKeys(dir)
		if err != nil || len(signers) != len(hostKeys) {
			t.Errorf("%d keys, %v", len(signers), err)
		}
		for _, s := range signers {
			found[n] = append(found[n], s.PublicKey().Marshal()...)
		}
	}
	for n := range 3 {
		all.Go(func() { start(n) })
	}
	all.Wait()
	start(3)
	for n := range found {
		if !bytes.Equal(found[n], found[0]) {
			t.Errorf("start %d has other keys than the first", n)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(hostKeys) {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	damaged := filepath.Join(dir, hostKeys[0].file)
	testkit.NoError(t, os.WriteFile(damaged, []byte("no key"), 0o600))
	if _, err := HostKeys(dir); err == nil {
		t.Error("a damaged key is no error")
	}
	if text, _ := os.ReadFile(damaged); string(text) != "no key" {
		t.Error("a damaged key was written over")
	}
}
