package server

import (
	"net/http"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/web"
)

// metaJSON is the subset of GitHub's api-overview that applies to this server.
type metaJSON struct {
	Passwords        bool              `json:"verifiable_password_authentication"`
	InstalledVersion string            `json:"installed_version"`
	Fingerprints     map[string]string `json:"ssh_key_fingerprints,omitempty"`
	Keys             []string          `json:"ssh_keys,omitempty"`
}

// gitHubVersion is the version of GitHub Enterprise Server that /meta reports. Clients infer features from
// it, so it must be one of GitHub's versions, and parse for gh and GitHub's migration tools (semantic
// versions) and for Git Credential Manager (.NET versions, without a suffix). From 3.2 on Git Credential
// Manager signs in through its own OAuth App, which this server lacks; below that it asks for a token.
// Below 3.17 gh requests classic projects, and below 3.18 it uses the older search syntax; both are
// supported.
const gitHubVersion = "3.1.0"

// GET /meta
//
// Meta returns what clients need to know of the server: that it accepts only tokens, which version of
// GitHub's server it resembles, and its SSH host keys.
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
