package settings

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of topics, as at GitHub.
const (
	maxTopics = 20
	maxTopic  = 50 // characters
)

// IsTopic reports whether a topic's name is valid: lower-case letters, digits and hyphens,
// not beginning with a hyphen.
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
func (api *API) ListTopics(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return web.JSON(w, r, http.StatusOK, topicsJSON{web.Cut(w, r, a.Topics.Names())})
}

// PUT /repos/{owner}/{repo}/topics
//
// SetTopics replaces all topics by names, in lower case and each once. Error: 422.
func (api *API) SetTopics(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, topicsResource)
	if err != nil {
		return err
	}
	given := body.Strings("names", maxTopics, 0)
	if !given.Given() {
		body.Wrong("names", errs.MissingField, "")
	}
	if err := body.Err(); err != nil {
		return err
	}
	names, err := api.s.SetTopics(r.Context(), a, given.Value)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, topicsJSON{names})
}

const topicsResource = "Topics"

// SetTopics replaces all topics, and returns them as they are stored: in lower case and each once. Errors: 404, 422.
func (s *Service) SetTopics(ctx context.Context, a *repo.Access, given []string) ([]string, error) {
	f := web.Faults{Resource: topicsResource}
	names := checkTopics(&f, "names", given)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return names, s.setTopics(ctx, a, names)
}

// checkTopics returns topics as they are stored: in lower case, each once. What is wrong is noted for the field.
func checkTopics(f *web.Faults, field string, given []string) []string {
	f.CheckStrings(field, given, maxTopics, 0)
	names := []string{}
	for _, name := range given {
		name = strings.ToLower(name)
		if !IsTopic(name) {
			f.Wrong(field, errs.Custom, "Topics must start with a lowercase letter or number, "+
				"consist of 50 characters or less, and can include hyphens.")
			break
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// setTopics writes the topics into the repository's row, with which payloads have them, and
// into the table by which searches find them. Error: 404.
func (s *Service) setTopics(ctx context.Context, a *repo.Access, names []string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		if err := writeTopics(tx, a.ID, names); err != nil {
			return err
		}
		before := *now.Repo
		now.Topics = repo.Topics(strings.Join(names, " "))
		if err := s.forge.Edit(tx, &before, now.Repo, now.DoneBy(a.Caller)); err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoUpdate, map[string]any{"fields": []string{"topics"}}))
	})
}

// writeTopics replaces the topics of a repository whose row is locked.
func writeTopics(tx *db.Tx, id repo.ID, names []string) error {
	err := tx.Run(`UPDATE repos SET topics = $2, updated_at = $3 WHERE id = $1`,
		id, strings.Join(names, " "), tx.Now)
	if err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM repo_topics WHERE repo_id = $1`, id); err != nil || len(names) == 0 {
		return err
	}
	var args []any
	for _, name := range names {
		args = append(args, id, name)
	}
	return tx.Run(`INSERT INTO repo_topics (repo_id, topic) VALUES `+db.Values(len(names), 2), args...)
}
