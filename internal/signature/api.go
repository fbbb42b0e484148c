package signature

import (
	"net/http"

	"arbor/internal/account/signkey"
	"arbor/internal/cache"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// API answers the route of the server's key.
type API struct{ s *Service }

// NewAPI returns the handler.
func NewAPI(s *Service) *API { return &API{s} }

// Routes are the endpoints of signatures.
func (a *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{free.Anyone("GET /web-flow.gpg", a.GetServerKey).InAnyMedia()}
}

// Caches returns statistics of the caches.
func (a *API) Caches() []cache.Stats { return a.s.Caches() }

// GET /web-flow.gpg
//
// GetServerKey returns the public key with which the server signs merges, reverts and edits of pages.
func (a *API) GetServerKey(w http.ResponseWriter, r *http.Request) error {
	text, _, err := a.s.PublicKey()
	if err != nil {
		return err
	}
	return signkey.SendText(w, r, text)
}
