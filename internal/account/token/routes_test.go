package token_test

import (
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/oauth"
	"arbor/internal/route"
)

func init() {
	token.OAuthRoutes = func(d *db.DB, s *token.Service) []route.Route {
		return oauth.NewAPI(oauth.New(d), s, nil).Routes()
	}
}
