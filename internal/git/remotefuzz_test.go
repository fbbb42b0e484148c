package git

import (
	"strings"
	"testing"
)

// FuzzRemoteRefs: whatever a server lists, only refs with names that we take come of it, and not too many.
func FuzzRemoteRefs(f *testing.F) {
	sha := strings.Repeat("ab", 20)
	f.Add("ref: refs/heads/main\tHEAD\n" + sha + "\tHEAD\n" + sha + "\trefs/heads/main\n" + sha + "\trefs/tags/v1^{}\n")
	f.Add(sha + "\trefs/heads/-x\n" + sha + "\trefs/pull/1/head\nxyz\trefs/heads/y\n")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseRemoteRefs(strings.NewReader(text), 3, true)
		if err != nil {
			return
		}
		if len(found.Refs) > 3 || found.Head != "" && CheckOldRefName(found.Head) != nil {
			t.Errorf("%+v", found)
		}
		for name, sha := range found.Refs {
			if CheckRefName(name) != nil || !sha.Valid() {
				t.Errorf("%q %q", name, sha)
			}
		}
	})
}

// FuzzPushReport: whatever a server answers to a push can be shown, and has a bound.
func FuzzPushReport(f *testing.F) {
	f.Add("To http://x\n!\tabc:refs/heads/main\t[remote rejected] (protected)\n=\tx:y\tz\nDone\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, why := range parsePushReport(text) {
			if strings.ContainsAny(name+why, "\x00\x1b\n") || printable(remoteReason(text)) != remoteReason(text) {
				t.Errorf("%q: %q", name, why)
			}
		}
	})
}
