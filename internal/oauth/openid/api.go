package openid

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"

	"github.com/go-jose/go-jose/v4"
)

// Addresses below the one of the site. Package page/signin has those for people.
const (
	authorizePath  = "/login/oauth/authorize"
	tokenPath      = "/login/oauth/token"
	keysPath       = "/login/oauth/keys"
	userInfoPath   = "/login/oauth/userinfo"
	revokePath     = "/login/oauth/revoke"
	introspectPath = "/login/oauth/introspect"
	logoutPath     = "/login/oauth/logout"
)

// API answers programs.
type API struct{ s *Service }

// NewAPI returns the handlers.
func NewAPI(s *Service) *API { return &API{s} }

// Routes are the endpoints for programs. Each brings its own proof, or needs none.
func (a *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	open := func(r route.Route) route.Route { return r.In(route.Pages).ByClient().WithoutToken() }
	return []route.Route{
		free.Anyone("GET /.well-known/openid-configuration", a.Discover).In(route.Pages).WithoutToken(),
		free.Anyone("GET "+keysPath, a.ListKeys).In(route.Pages).WithoutToken(),
		open(free.Anyone("GET "+userInfoPath, a.UserInfo)),
		open(free.Anyone("POST "+userInfoPath, a.UserInfo)).WithLimit(oauth.MaxBody),
		open(free.Anyone("POST "+revokePath, a.Revoke)).WithLimit(oauth.MaxBody),
		open(free.Anyone("POST "+introspectPath, a.Introspect)).WithLimit(oauth.MaxBody),
	}
}

// discovery is the description of the provider (OpenID Connect Discovery 1.0, 3; RFC 8414; RFC 9207).
type discovery struct {
	Issuer          string   `json:"issuer"`
	Authorize       string   `json:"authorization_endpoint"`
	Token           string   `json:"token_endpoint"`
	UserInfo        string   `json:"userinfo_endpoint"`
	Keys            string   `json:"jwks_uri"`
	Logout          string   `json:"end_session_endpoint"`
	Revoke          string   `json:"revocation_endpoint"`
	Introspect      string   `json:"introspection_endpoint"`
	Scopes          []string `json:"scopes_supported"`
	ResponseTypes   []string `json:"response_types_supported"`
	ResponseModes   []string `json:"response_modes_supported"`
	GrantTypes      []string `json:"grant_types_supported"`
	Levels          []string `json:"acr_values_supported"`
	SubjectTypes    []string `json:"subject_types_supported"`
	Algorithms      []string `json:"id_token_signing_alg_values_supported"`
	TokenAuth       []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuth      []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectAuth  []string `json:"introspection_endpoint_auth_methods_supported"`
	Claims          []string `json:"claims_supported"`
	Challenges      []string `json:"code_challenge_methods_supported"`
	Prompts         []string `json:"prompt_values_supported"`
	ClaimsParameter bool     `json:"claims_parameter_supported"`
	Request         bool     `json:"request_parameter_supported"`
	RequestURI      bool     `json:"request_uri_parameter_supported"`
	AnswersIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
}

// GET /.well-known/openid-configuration
//
// Discover answers what the provider can do, and at which addresses.
func (a *API) Discover(w http.ResponseWriter, r *http.Request) error {
	i := web.From(r.Context())
	auth := []string{"client_secret_basic", "client_secret_post"}
	w.Header().Set("Cache-Control", keptFor)
	return web.JSON(w, r, http.StatusOK, &discovery{
		Issuer: i.Site, Authorize: i.Page(authorizePath), Token: i.Page(tokenPath),
		UserInfo: i.Page(userInfoPath), Keys: i.Page(keysPath), Logout: i.Page(logoutPath),
		Revoke: i.Page(revokePath), Introspect: i.Page(introspectPath),
		Scopes:        []string{"openid", "profile", "email", "groups"},
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes: []string{"authorization_code"},
		Levels:     []string{"1", "2"}, SubjectTypes: []string{"public"}, Algorithms: []string{string(algorithm)},
		TokenAuth: auth, RevokeAuth: auth, IntrospectAuth: auth,
		Claims: []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "at_hash", "name",
			"preferred_username", "profile", "picture", "updated_at", "email", "email_verified", "groups"},
		Challenges: []string{"S256"}, Prompts: []string{"none", "login", "consent", "select_account"},
		AnswersIssuer: true,
	})
}

// keptFor is how long clients keep the description and the keys: a key that was removed counts no longer than
// that.
const keptFor = "public, max-age=300"

// GET /login/oauth/keys
//
// ListKeys answers the public keys that verify ID tokens, as a JSON Web Key Set.
func (a *API) ListKeys(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.s.signer(r.Context()); err != nil { // the first is made when somebody asks
		return err
	}
	list, err := db.Get(r.Context(), a.s.db, publishedKeys)
	if err != nil {
		return err
	}
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, len(list))}
	for n, k := range list {
		if set.Keys[n], err = k.public(); err != nil {
			return err
		}
	}
	w.Header().Set("Cache-Control", keptFor)
	return web.JSON(w, r, http.StatusOK, set)
}

// GET /login/oauth/userinfo
// POST /login/oauth/userinfo
//
// UserInfo answers what the token of an OAuth App lets it learn of its user, as far as the scopes say. Errors
// by RFC 6750: 401 for a token that is not in force, 403 for one without the scope openid.
func (a *API) UserInfo(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	caller, given, err := a.s.tokens.AuthenticateBearer(r)
	switch {
	case !given && err == nil:
		return challenge(w, r, http.StatusUnauthorized, "",
			"Send the token in the header Authorization, as Bearer.")
	case errs.Is(err, errs.Unauthenticated), errs.Is(err, errs.Forbidden):
		return challenge(w, r, http.StatusUnauthorized, "invalid_token", "The token is not in force.")
	case err != nil:
		return err
	case caller.Grant == nil || !caller.Grant.Scopes.Any(scope.OpenID):
		return challenge(w, r, http.StatusForbidden, "insufficient_scope", "The token lacks the scope openid.")
	}
	i := web.From(r.Context())
	c, err := db.Get(r.Context(), a.s.db, func(tx *db.Tx) (*claims, error) {
		return claimsOf(tx, caller, caller.Grant.Scopes, i)
	})
	if errs.Is(err, errs.NotFound) { // deleted just now
		return challenge(w, r, http.StatusUnauthorized, "invalid_token", "The token is not in force.")
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, c)
}

// challenge answers an error of RFC 6750, 3. Without a code it only says that a token is needed.
func challenge(w http.ResponseWriter, r *http.Request, status int, code, description string) error {
	header, body := `Bearer realm="Arbor"`, map[string]string{"error_description": description}
	if code != "" {
		header += `, error="` + code + `"`
		body["error"] = code
	}
	w.Header().Set("WWW-Authenticate", header)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return web.JSON(w, r, status, body)
}
