//go:build long

package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/test/bucket"
)

// A bucket that fails after the first key leaves a node without keys, and its next start takes all of them.
func TestKeysOfBucketThatFails(t *testing.T) {
	service := bucket.Start(t)
	service.Setenv(t)
	var fails atomic.Bool
	proxy := service.Proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if fails.Load() && strings.HasSuffix(r.URL.Path, "ssh_host_rsa_key") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	d := leftKeys(t, proxy.Address("keys", ""))
	s := newNode(t)
	fails.Store(true)
	if err := s.bringFolder(t.Context(), d, "ssh", ""); err == nil {
		t.Error("it takes a key that cannot be read")
	}
	s.holds(t)
	fails.Store(false)
	if err := s.bringFolder(t.Context(), d, "ssh", ""); err != nil {
		t.Error(err)
	}
	s.holds(t, "ssh_host_ecdsa_key", "ssh_host_ed25519_key", "ssh_host_rsa_key")
}
