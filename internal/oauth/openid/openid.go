// Package openid makes Arbor an OpenID Connect provider for OAuth Apps. An App that asks for the scope openid
// goes the same way as any other (package oauth): the same page, codes, grants and tokens. With the token it
// gets an ID token.
//
//	openid.go   the service, and what its neighbours must know
//	key.go      the keys that sign ID tokens, and their rotation; store.go: the SQL of table openid_keys
//	claims.go   what an App learns of a user; idtoken.go: ID tokens
//	api.go      GET /.well-known/openid-configuration, /login/oauth/keys and /login/oauth/userinfo
//	apitoken.go POST /login/oauth/revoke and /login/oauth/introspect
//	signout.go  signing out at the request of an App: the page is in package page/signin
//
// The issuer is the address of the site, by --base-url or as the request has it. The subject is the number of
// the account: it stays when the account is renamed, and no other account gets it.
//
// An ID token is a statement about a moment, and lives for an hour. All else is read when it is asked for, so
// an App that holds a token learns by UserInfo what holds now:
//
//	transition                     ID token at the exchange    UserInfo and introspection
//	the user is renamed            the new login, same sub     the new login, same sub
//	the user is suspended          no code is redeemed         401, not active
//	the user is deleted            no code is redeemed         401, not active
//	the address is not verified    no email                    no email
//	an organization or team left   not in groups               not in groups
//	an organization is closed to   its teams, and the          as there
//	  the App (package oauth)        membership if not public,
//	                                 not in groups
//	a membership becomes private   stays in groups             stays in groups: the user allowed that to be told
//	organization or team renamed   the new name                the new name
//	the grant is revoked           no code is redeemed         401, not active
//	the App is deleted             no code is redeemed         401, not active
//	the App is transferred         as before                   as before
//	the App's owner is suspended   no code is redeemed         as before; introspection: no client
//	the keys are rotated           by the new key              -
//
// TestOpenIDTransitions walks it.
package openid

import (
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/oauth"
)

// idTokenLife is how long an ID token counts.
const idTokenLife = time.Hour

// Service signs ID tokens and says who users are. Safe for concurrent use.
type Service struct {
	db     *db.DB
	apps   *oauth.Service
	tokens *token.Service
	making sync.Mutex // one key is made at a time: that takes a tenth of a second
}

// New returns the service.
func New(d *db.DB, apps *oauth.Service, tokens *token.Service) *Service {
	return &Service{db: d, apps: apps, tokens: tokens}
}

// subject is the name of an account in tokens.
func subject(id account.ID) string { return id.String() }
