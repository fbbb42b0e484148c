package lfs

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// tokenLife is how long a token is valid.
const tokenLife = time.Hour

// tokenScheme begins the header Authorization with a token.
const tokenScheme = "RemoteAuth "

// token lets a caller transfer objects of one repository. It holds nothing secret but its signature, and names the
// token or the key by which the caller signed in: that is looked up again at each use, so a token ends with it, and
// never lets anybody do more.
type token struct {
	Repo    repo.ID
	Upload  bool
	TokenID int64 // of the caller
	KeyID   int64 // the SSH key of the caller; 0 with TokenID: an anonymous caller
	Expires int64 // in seconds since 1970
}

// newToken returns the token for a caller, or false for one of this process, who needs none.
func newToken(caller *account.Caller, id repo.ID, upload bool, now time.Time) (token, bool) {
	t := token{Repo: id, Upload: upload, Expires: now.Add(tokenLife).Unix()}
	if caller == nil {
		return t, true
	}
	t.TokenID, t.KeyID = caller.TokenID, caller.KeyID
	if caller.Transfer != nil {
		t.Expires = min(t.Expires, caller.Transfer.Expires)
	}
	return t, t.TokenID != 0 || t.KeyID != 0
}

// sign returns the token as clients send it.
func (s *Service) sign(t token) string {
	way := "download"
	if t.Upload {
		way = "upload"
	}
	text := strings.Join([]string{way, strconv.FormatInt(int64(t.Repo), 10), strconv.FormatInt(t.TokenID, 10),
		strconv.FormatInt(t.KeyID, 10), strconv.FormatInt(t.Expires, 10)}, "-")
	return text + "-" + s.signature(text)
}

func (s *Service) signature(text string) string {
	mac := hmac.New(sha256.New, s.Key)
	mac.Write([]byte("git-lfs " + text))
	return hex.EncodeToString(mac.Sum(nil))
}

// open reads a token that sign made. ok is false for any other.
func (s *Service) open(signed string) (t token, ok bool) {
	at := strings.LastIndexByte(signed, '-')
	if len(s.Key) == 0 || at < 0 || !hmac.Equal([]byte(signed[at+1:]), []byte(s.signature(signed[:at]))) {
		return token{}, false
	}
	words := strings.Split(signed[:at], "-")
	if len(words) != 5 {
		return token{}, false
	}
	var n [4]int64
	for i, word := range words[1:] {
		var err error
		if n[i], err = strconv.ParseInt(word, 10, 64); err != nil {
			return token{}, false
		}
	}
	return token{repo.ID(n[0]), words[0] == "upload", n[1], n[2], n[3]}, true
}

// IsToken reports a request with a token of this package.
func IsToken(r *http.Request) bool {
	v := r.Header["Authorization"]
	return len(v) == 1 && strings.HasPrefix(v[0], tokenScheme)
}

// Authenticate returns the caller of a request with a token, limited to what the token is for; nil for an anonymous
// one. Errors: 401 for a token that is not valid, or whose credentials are not any more; 403 for those of a suspended
// account.
func (s *Service) Authenticate(r *http.Request) (*account.Caller, error) {
	t, ok := s.open(strings.TrimPrefix(r.Header.Get("Authorization"), tokenScheme))
	if !ok {
		return nil, account.BadCredentials()
	}
	var caller *account.Caller
	err := s.db.Read(r.Context(), func(tx *db.Tx) error {
		now, err := tx.Clock()
		if err != nil || now.Time().Unix() >= t.Expires {
			return cmp.Or(err, account.BadCredentials())
		}
		if t.TokenID != 0 || t.KeyID != 0 {
			caller, err = account.CallerOf(tx, t.TokenID, t.KeyID, now)
		}
		return err
	})
	if err != nil || caller == nil {
		return nil, err
	}
	limited := *caller
	limited.Transfer = &account.Transfer{RepoID: int64(t.Repo), Upload: t.Upload, Expires: t.Expires}
	return &limited, nil
}

// header returns the header that makes a request the caller's; nil: the caller has to sign in.
func (s *Service) header(caller *account.Caller, id repo.ID, upload bool) map[string]string {
	t, ok := newToken(caller, id, upload, time.Now())
	if !ok || len(s.Key) == 0 {
		return nil
	}
	return map[string]string{"Authorization": tokenScheme + s.sign(t)}
}

// Ticket is the answer of git-lfs-authenticate.
type Ticket struct {
	Href      string            `json:"href,omitempty"` // empty: as the client guesses
	Header    map[string]string `json:"header"`
	ExpiresIn int64             `json:"expires_in"` // seconds
}

// Authorize returns the ticket for a caller over SSH to transfer objects of a repository over HTTP. site is the
// address of the server; empty: it is not known. Errors: 403; 501 if Git LFS is off.
func (s *Service) Authorize(ctx context.Context, a *repo.Access, upload bool, site string) (*Ticket, error) {
	if s.MaxObject == 0 {
		return nil, errOff()
	}
	need := account.Pull
	if upload {
		need = account.Push
	}
	if err := s.transport.Check(ctx, a, need); err != nil {
		return nil, err
	}
	t := &Ticket{Header: s.header(a.Caller, a.ID, upload), ExpiresIn: int64(tokenLife.Seconds())}
	if site != "" {
		t.Href = site + base(a.Repo)
	}
	return t, nil
}

// errOff is the error of all requests on a server without Git LFS.
func errOff() error { return errs.New(errs.NotFound, "Git LFS is switched off on this server.") }
