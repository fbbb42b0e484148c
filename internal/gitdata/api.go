package gitdata

import (
	"arbor/internal/cache"
	"arbor/internal/web"
)

// API implements the HTTP handlers of Git objects, histories and files.
type API struct {
	s       *Service
	answers *web.Answers // in the service's cache
}

// NewAPI returns the handlers of a service.
func NewAPI(s *Service) *API { return &API{s, web.NewAnswers(s.kept)} }

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.s.kept.Stats("git_answers"), api.s.lengths.Stats("git_lengths"),
		api.s.peeled.Stats("git_peeled"), api.s.walks.Stats("git_walks")}
}
