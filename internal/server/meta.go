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

// gitHubVersion is the version of GitHub Enterprise Server for which clients should take this server. They ask
// /meta to learn what a server can do, so the number is one of GitHub's, and three of them parse it: gh as
// semantic versions are, GitHub's migration tools likewise, and Git Credential Manager as .NET does, which takes
// no suffix. From 3.2 on Git Credential Manager signs people in by an OAuth App of its own, which is not here;
// below, it asks for a token. gh asks servers before 3.17 for classic projects, which have answers here, and
// those before 3.18 to search by the older syntax, which is understood, too.
const gitHubVersion = "3.1.0"

// GET /meta
//
// Meta answers what clients want to know of the server before they begin: that tokens alone count, which version
// of GitHub's server it is like, and by which keys it is known over SSH.
func (s *Server) Meta(w http.ResponseWriter, r *http.Request) error {
	out := metaJSON{InstalledVersion: gitHubVersion, Fingerprints: map[string]string{}}
	for _, k := range s.o.SSH.HostKeys {
		public := k.PublicKey()
		name := strings.ToUpper(strings.TrimPrefix(strings.SplitN(public.Type(), "-sha2-", 2)[0], "ssh-"))
		out.Fingerprints["SHA256_"+name] = strings.TrimPrefix(gossh.FingerprintSHA256(public), "SHA256:")
		out.Keys = append(out.Keys, strings.TrimSpace(string(gossh.MarshalAuthorizedKey(public))))
	}
	return web.JSON(w, r, http.StatusOK, out)
}
