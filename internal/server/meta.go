package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// metaJSON is the subset of GitHub's api-overview that applies to this server.
type metaJSON struct {
	Passwords        bool              `json:"verifiable_password_authentication"`
	InstalledVersion string            `json:"installed_version"`
	Fingerprints     map[string]string `json:"ssh_key_fingerprints,omitempty"`
	Keys             []string          `json:"ssh_keys,omitempty"`
	Hooks            []string          `json:"hooks"`
	Git              []string          `json:"git"`
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
// GitHub's server it resembles, and its SSH host keys. The networks from which it calls webhooks and serves git are
// those of the machine, which the server does not know: their lists are empty.
func (s *Server) Meta(w http.ResponseWriter, r *http.Request) error {
	out := metaJSON{InstalledVersion: gitHubVersion, Fingerprints: map[string]string{},
		Hooks: []string{}, Git: []string{}}
	for _, k := range s.o.SSH.HostKeys {
		public := k.PublicKey()
		name := strings.ToUpper(strings.TrimPrefix(strings.SplitN(public.Type(), "-sha2-", 2)[0], "ssh-"))
		out.Fingerprints["SHA256_"+name] = strings.TrimPrefix(gossh.FingerprintSHA256(public), "SHA256:")
		out.Keys = append(out.Keys, strings.TrimSpace(string(gossh.MarshalAuthorizedKey(public))))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /versions
//
// Versions returns the versions of GitHub's API that clients may name in X-GitHub-Api-Version. All of them are answered
// alike.
func (s *Server) Versions(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, r, http.StatusOK, []string{"2022-11-28"})
}

// saying is what GET /zen answers.
const saying = "Leave the bed better than you found it."

// GET /zen
//
// Zen returns a sentence as plain text. Clients ask for it to see whether the server answers.
func (s *Server) Zen(w http.ResponseWriter, r *http.Request) error {
	return writeText(w, "text/plain; charset=utf-8", saying)
}

// GET /octocat
//
// Octocat returns a tree of characters that says a sentence: that of the parameter s, or the one of Zen.
func (s *Server) Octocat(w http.ResponseWriter, r *http.Request) error {
	said := web.QueryOf(r).Get("s")
	if said == "" {
		said = saying
	}
	if len(said) > maxSaid || strings.ContainsFunc(said, unicode.IsControl) || !utf8.ValidString(said) {
		return errs.New(errs.Invalid, "s is a line of at most 255 bytes.")
	}
	return writeText(w, "application/octocat-stream", fmt.Sprintf(tree, said))
}

func writeText(w http.ResponseWriter, kind, text string) error {
	w.Header().Set("Content-Type", kind)
	_, err := io.WriteString(w, text)
	return err
}

// maxSaid limits the parameter of Octocat, in bytes.
const maxSaid = 255

// tree is what Octocat returns.
const tree = `
       *
      /o\
     /  o\     %s
    /o   \   /
   /__o___\
      ||
`
