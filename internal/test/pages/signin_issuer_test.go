package pages_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// issuer is a small OpenID provider, which says what a test wants and lies where it wants.
type issuer struct {
	*httptest.Server
	key  *rsa.PrivateKey
	read atomic.Int64 // how often the keys were

	mu     sync.Mutex
	claims map[string]any                                // of the next ID token
	sign   func(i *issuer, claims map[string]any) string // nil: as it should be
	info   map[string]any                                // what UserInfo adds
	asked  url.Values                                    // of the last exchange
	codes  map[string]string                             // code to challenge
	nonces map[string]string                             // code to nonce
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	testkit.NoError(t, err)
	i := &issuer{key: key, codes: map[string]string{}, nonces: map[string]string{}}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(value)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
			"jwks_uri": i.URL + "/keys", "userinfo_endpoint": i.URL + "/info",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
			"code_challenge_methods_supported":      []string{"S256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.read.Add(1)
		answer(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
			"n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		answer(w, i.info)
	})
	mux.HandleFunc("POST /token", i.token(answer))
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token redeems a code, once, with its verifier.
func (i *issuer) token(answer func(http.ResponseWriter, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		r.ParseForm()
		i.asked = r.Form
		challenge, there := i.codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !there || b64(sum[:]) != challenge {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]string{"error": "invalid_grant"})
			return
		}
		delete(i.codes, r.Form.Get("code"))
		claims := maps.Clone(i.claims)
		if _, says := claims["nonce"]; !says {
			claims["nonce"] = i.nonces[r.Form.Get("code")]
		}
		sign := i.sign
		if sign == nil {
			sign = (*issuer).honest
		}
		answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": sign(i, claims)})
	}
}

// says sets the claims of the next ID token, over the usual ones.
func (i *issuer) says(subject string, more map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now().Unix()
	i.claims = map[string]any{"iss": i.URL, "aud": "arbor", "sub": subject, "iat": now, "exp": now + 60,
		"preferred_username": subject, "groups": []string{}}
	maps.Copy(i.claims, more)
	i.sign, i.info = nil, map[string]any{"sub": subject}
}

// unsigned is what is signed of a JWT.
func unsigned(alg string, claims map[string]any) string {
	head, _ := json.Marshal(map[string]string{"alg": alg, "kid": "1", "typ": "JWT"})
	body, _ := json.Marshal(claims)
	return b64(head) + "." + b64(body)
}

func (i *issuer) honest(claims map[string]any) string {
	text := unsigned("RS256", claims)
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	return text + "." + b64(signature)
}

// withNone claims that no signature is needed.
func (i *issuer) withNone(claims map[string]any) string { return unsigned("none", claims) + "." }

// withPublicKey signs with the public key as if it were a shared secret.
func (i *issuer) withPublicKey(claims map[string]any) string {
	text := unsigned("HS256", claims)
	mac := hmac.New(sha256.New, i.key.N.Bytes())
	mac.Write([]byte(text))
	return text + "." + b64(mac.Sum(nil))
}

// withOtherKey signs with a key that is not the issuer's.
func (i *issuer) withOtherKey(claims map[string]any) string {
	other, _ := rsa.GenerateKey(rand.Reader, 2048)
	return (&issuer{key: other}).honest(claims)
}

// trip is a sign-in of one browser at an issuer.
type trip struct {
	s       *apitest.Server
	cookies []string // NAME=VALUE
	state   string
	code    string
}

// take keeps the cookies of an answer.
func (b *trip) take(a *apitest.Answer) {
	r := http.Response{Header: a.Header}
	for _, c := range r.Cookies() {
		if c.MaxAge >= 0 {
			b.cookies = append(b.cookies, c.Name+"="+c.Value)
		}
	}
}

// lead begins a sign-in, and has the issuer give a code.
func (i *issuer) lead(t *testing.T, s *apitest.Server, provider, back string) *trip {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "GET /login/oidc/" + provider + "?return_to=" + url.QueryEscape(back),
		Headers: map[string]string{"Accept": apitest.Browser}})
	b := &trip{s: s}
	b.take(a)
	i.agree(t, b, a.Header.Get("Location"))
	return b
}

// agree is the issuer's page: somebody signs in.
func (i *issuer) agree(t *testing.T, b *trip, address string) {
	t.Helper()
	to, err := url.Parse(address)
	testkit.NoError(t, err)
	q := to.Query()
	if !strings.HasPrefix(address, i.URL+"/auth?") || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "arbor" ||
		q.Get("response_type") != "code" || !strings.Contains(q.Get("scope"), "openid") {
		t.Fatalf("the browser is led to %s", address)
	}
	b.state, b.code = q.Get("state"), rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.codes[b.code], i.nonces[b.code] = q.Get("code_challenge"), q.Get("nonce")
}

// back brings the browser back, with pairs that change the parameters.
func (b *trip) back(t *testing.T, provider string, pairs ...string) *apitest.Answer {
	t.Helper()
	q := url.Values{"state": {b.state}, "code": {b.code}}
	for n := 0; n < len(pairs); n += 2 {
		q.Set(pairs[n], pairs[n+1])
	}
	a := b.s.Do(t, apitest.Case{Do: "GET /login/oidc/" + provider + "/callback?" + q.Encode(),
		Headers: map[string]string{"Accept": apitest.Browser, "Cookie": strings.Join(b.cookies, "; ")}})
	b.take(a)
	return a
}

// signsIn holds that somebody signs in, and returns a browser of that person.
func (i *issuer) signsIn(t *testing.T, s *apitest.Server, provider string) *visitor {
	t.Helper()
	a := i.lead(t, s, provider, "/somewhere").back(t, provider)
	want(t, a, 303)
	if a.Header.Get("Location") != "/somewhere" || frontCookieOf(a) == "" {
		t.Fatalf("signed in, the browser is led to %q: %.500s", a.Header.Get("Location"), a.Body)
	}
	return &visitor{t, s, frontCookieOf(a)}
}

// signInFile is an option of servers: their identity providers.
func signInFile(t *testing.T, format string, args ...any) apitest.Option {
	t.Helper()
	config, err := signinfile.Parse(fmt.Appendf(nil, format, args...))
	testkit.NoError(t, err)
	return func(o *server.Options) { o.SignIn = config }
}
