package apitest

import (
	"testing"

	"arbor/internal/app"
)

// Bot creates an App with the given permissions ("checks=write") and installs it with an account, for all
// of its repositories. Cases can then make requests as NAME[bot].
func (s *Server) Bot(t testing.TB, name, on, permissions string, events ...string) *App {
	t.Helper()
	return s.BotWithHook(t, name, on, permissions, app.Hook{}, events...)
}

// BotWithHook is Bot for an App with a hook.
func (s *Server) BotWithHook(t testing.TB, name, on, permissions string, h app.Hook, events ...string) *App {
	t.Helper()
	a := s.NewApp(t, on, app.Manifest{Name: name, URL: "https://" + name + ".example.org", Public: true,
		Permissions: Permissions(permissions), Hook: h, Events: events})
	token := a.Token(t, a.Install(t, on).ID, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[a.Slug+"[bot]"] = token
	return a
}
