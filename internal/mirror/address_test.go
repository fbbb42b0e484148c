package mirror

import "testing"

// An address by SSH is one, however it is written, and names the path that git would send.
func TestAddressesBySSH(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"git@code.example:alice/garden.git":         {"ssh://git@code.example/alice/garden.git", "'/alice/garden.git'"},
		"alice@[2001:db8::1]:/srv/garden":           {"ssh://alice@[2001:db8::1]/srv/garden", "'/srv/garden'"},
		"ssh://code.example:2222/alice/garden.git":  {"ssh://git@code.example:2222/alice/garden.git", "'/alice/garden.git'"},
		"ssh://alice@CODE.example/~/garden.git":     {"ssh://alice@code.example/~/garden.git", "'~/garden.git'"},
		"ssh://git@code.example/it's%20a$(garden)":  {"ssh://git@code.example/it's%20a$(garden)", `'/it'\''s a$(garden)'`},
		"ssh://git@code.example/alice/garden.git;x": {"ssh://git@code.example/alice/garden.git;x", "'/alice/garden.git;x'"},
	} {
		u, err := parseURL(address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		again, err := parseURL(u.String())
		if err != nil || again.String() != u.String() || again.Path != u.Path || quoted(sshPath(u)) != want[1] ||
			!IsSSH(u.String()) || !IsSSH(address) {
			t.Errorf("%q: %s %s, %v", address, u, quoted(sshPath(u)), err)
		}
		if u.String() != want[0] {
			t.Errorf("%q is stored as %s", address, u)
		}
	}
}
