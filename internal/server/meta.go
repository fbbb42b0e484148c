package server

import (
	"net/http"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/web"
)

// metaJSON is GitHub's api-overview, as far as a server of one's own has something to say.
type metaJSON struct {
	Passwords        bool              `json:"verifiable_password_authentication"`
	InstalledVersion string            `json:"installed_version"`
	Fingerprints     map[string]string `json:"ssh_key_fingerprints,omitempty"`
	Keys             []string          `json:"ssh_keys,omitempty"`
}

// GET /meta
//
// Meta answers what clients want to know of the server before they begin: that tokens
// alone count, which version it is, and by which keys it is known over SSH.
func (s *Server) Meta(w http.ResponseWriter, r *http.Request) error {
	out := metaJSON{InstalledVersion: s.o.Version, Fingerprints: map[string]string{}}
	if v := out.InstalledVersion; v == "" || v[0] < '0' || v[0] > '9' {
		out.InstalledVersion = "0.0.0" // clients read it as a version
	}
	for _, k := range s.o.SSH.HostKeys {
		public := k.PublicKey()
		name := strings.ToUpper(strings.TrimPrefix(strings.SplitN(public.Type(), "-sha2-", 2)[0], "ssh-"))
		out.Fingerprints["SHA256_"+name] = strings.TrimPrefix(gossh.FingerprintSHA256(public), "SHA256:")
		out.Keys = append(out.Keys, strings.TrimSpace(string(gossh.MarshalAuthorizedKey(public))))
	}
	return web.JSON(w, r, http.StatusOK, out)
}
