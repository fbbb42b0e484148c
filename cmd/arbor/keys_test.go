package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/depot"
	"arbor/internal/identity"
	"arbor/internal/test/testkit"
)

// leftKeys returns a depot that holds host keys.
func leftKeys(t *testing.T, address string) *depot.Depot {
	t.Helper()
	d, err := depot.Open(address, "store", nil)
	testkit.NoError(t, err)
	testkit.NoError(t, d.Bind(t.Context()))
	for _, name := range []string{"ssh_host_ecdsa_key", "ssh_host_ed25519_key", "ssh_host_rsa_key"} {
		leaveKey(t, d, name, name)
	}
	return d
}

func leaveKey(t *testing.T, d *depot.Depot, name, text string) {
	t.Helper()
	testkit.NoError(t, d.Put(t.Context(), depot.SecretKeys+"ssh/"+name, strings.NewReader(text), int64(len(text))))
}

// newNode returns a node without keys.
func newNode(t *testing.T) *store { return &store{dir: t.TempDir()} }

// holds compares the files in a node's data folder with the names of host keys.
func (s *store) holds(t *testing.T, want ...string) {
	t.Helper()
	list, err := keysIn(filepath.Join(s.dir, "ssh"))
	testkit.NoError(t, err)
	if got := slices.Sorted(maps.Keys(list)); !slices.Equal(got, want) {
		t.Errorf("the node has the keys %q, want %q", got, want)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, ".tmp-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left over (%v)", left, err)
	}
}

// A node takes keys once the first server has left all of them, and never some of them, with which it would not start.
func TestKeysComeTogether(t *testing.T) {
	t.Parallel()
	d := leftKeys(t, "file://"+t.TempDir())
	leaveKey(t, d, "ssh_host_dsa_key", "") // an empty file is no key
	leaveKey(t, d, "old/ssh_host_rsa_key", "a copy of somebody")
	s := newNode(t)
	dir := filepath.Join(s.dir, "ssh")
	testkit.NoError(t, os.Mkdir(dir, 0o700))
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, ".tmp-key-1"), nil, 0o600)) // of a start that was killed
	testkit.NoError(t, s.bringFolder(t.Context(), d, "ssh", "another digest"))
	s.holds(t)
	testkit.NoError(t, s.bringFolder(t.Context(), d, "ssh", ""))
	all := []string{"ssh_host_ecdsa_key", "ssh_host_ed25519_key", "ssh_host_rsa_key"}
	s.holds(t, all...)
	digest, err := identity.DigestKeys(dir)
	testkit.NoError(t, err)
	s = newNode(t)
	testkit.NoError(t, s.bringFolder(t.Context(), d, "ssh", digest))
	s.holds(t, all...)
}
