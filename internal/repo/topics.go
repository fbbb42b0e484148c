package repo

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Bounds of topics, as at GitHub.
const (
	maxTopics = 20
	maxTopic  = 50 // characters
)

// topics are the names of a repository's topics, in their order, parted by spaces.
type topics string

func (t topics) names() []string {
	names := strings.Fields(string(t))
	if names == nil {
		names = []string{}
	}
	return names
}

// IsTopic reports whether a topic may be called so: lower-case letters, digits and hyphens,
// of which none comes first.
func IsTopic(name string) bool {
	return name != "" && len(name) <= maxTopic && name[0] != '-' &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

type topicsJSON struct {
	Names []string `json:"names"`
}

// GET /repos/{owner}/{repo}/topics
//
// ListTopics answers the repository's topics.
func (api *API) ListTopics(w http.ResponseWriter, r *http.Request, a *Access) error {
	return web.JSON(w, r, http.StatusOK, topicsJSON{web.Cut(w, r, a.Topics.names())})
}

// PUT /repos/{owner}/{repo}/topics
//
// SetTopics replaces all topics by names, in lower case and each once. Error: 422.
func (api *API) SetTopics(w http.ResponseWriter, r *http.Request, a *Access) error {
	body, err := web.ReadObject(r, "Topics")
	if err != nil {
		return err
	}
	given := body.Strings("names", maxTopics, 0)
	if !given.Given() {
		body.Wrong("names", errs.MissingField, "")
	}
	var names []string
	for _, name := range given.Value {
		name = strings.ToLower(name)
		if !IsTopic(name) {
			body.Wrong("names", errs.Custom, "Topics must start with a lowercase letter or number, "+
				"consist of 50 characters or less, and can include hyphens.")
			break
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.setTopics(r.Context(), a, names); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, topicsJSON{topics(strings.Join(names, " ")).names()})
}

// setTopics writes the topics into the repository's row, with which payloads have them, and
// into the table by which searches find them. Error: 404.
func (s *Service) setTopics(ctx context.Context, a *Access, names []string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockRepo(tx, a.ID); err != nil {
			return err
		}
		if err := writeTopics(tx, a.ID, names); err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoUpdate, map[string]any{"fields": []string{"topics"}}))
	})
}
