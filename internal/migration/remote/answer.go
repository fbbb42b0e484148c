package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"arbor/internal/label"
	"arbor/internal/migration"
)

// maxReleases is how many releases are read: lists have the newest first, and are turned round
// on disk.
const maxReleases = 10_000

// Release is a release in answers of GitHub and Gitea.
type Release struct {
	ID          int64     `json:"id"`
	Tag         string    `json:"tag_name"`
	Target      string    `json:"target_commitish"`
	Name        *string   `json:"name"`
	Body        *string   `json:"body"`
	Draft       bool      `json:"draft"`
	Prerelease  bool      `json:"prerelease"`
	Author      *User     `json:"author"`
	CreatedAt   time.Time `json:"created_at"`
	PublishedAt time.Time `json:"published_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Releases reads the releases of the repository at a path, the oldest first. list is each for a path; more
// is called with each answer and the record that was written of it.
func Releases[T any](
	ctx context.Context, s *Source, path string, list func(path string, fn func(*T) error) error,
	about func(*T) *Release, more func(*T, *migration.Release) error,
) error {
	all, err := s.NewTurned()
	if err != nil {
		return err
	}
	defer all.Close()
	var count int64
	err = list(path+"/releases", func(r *T) error {
		if count == maxReleases {
			return fmt.Errorf("there are more than %d releases", maxReleases)
		}
		count++
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return all.Add(-count, text)
	})
	if err != nil {
		return s.LeaveAbsent("releases", err)
	}
	var latest Release
	if err := s.Get(ctx, path+"/releases/latest", &latest); err != nil && !Absent(err) {
		return err
	}
	for _, number := range all.Numbers() {
		answer := new(T)
		if err := all.Item(number, answer); err != nil {
			return err
		}
		r := about(answer)
		author := s.People.Login(r.Author)
		out := &migration.Release{ID: strconv.FormatInt(r.ID, 10), Tag: r.Tag, Target: r.Target, Name: r.Name, Body: r.Body,
			Draft: r.Draft, Prerelease: r.Prerelease, Latest: r.ID == latest.ID, Author: author, CreatedAt: r.CreatedAt,
			UpdatedAt: r.UpdatedAt}
		if out.UpdatedAt.IsZero() {
			out.UpdatedAt = r.CreatedAt
		}
		if !r.Draft {
			out.Publisher, out.PublishedAt = author, r.PublishedAt
		}
		if err := s.Out.Add(migration.Releases, out); err != nil {
			return err
		}
		if err := more(answer, out); err != nil {
			return err
		}
	}
	return nil
}

// Label is a label in answers of Gitea and GitLab.
type Label struct {
	Name        string  `json:"name"`
	Color       string  `json:"color"`
	Description *string `json:"description"`
}

// AddLabel writes a label, once. Those on issues can be written, too, in case that a list does not show them.
func (s *Source) AddLabel(l *Label) error {
	folded := label.Fold(l.Name)
	if s.labels[folded] {
		return nil
	}
	s.labels[folded] = true
	return s.Out.Add(migration.Labels, &migration.Label{Name: l.Name, Color: l.Color, Description: l.Description})
}

// Names returns names as JSON, as events have them.
func Names(names map[string]string) json.RawMessage {
	text, _ := json.Marshal(names) // texts are always JSON
	return text
}

// AddMilestones writes milestones in the order of their numbers.
func (s *Source) AddMilestones(list []*migration.Milestone) error {
	slices.SortFunc(list, func(a, b *migration.Milestone) int { return cmp.Compare(a.Number, b.Number) })
	for _, m := range list {
		if err := s.Out.Add(migration.Milestones, m); err != nil {
			return err
		}
	}
	return nil
}

// Reaction is a reaction in answers of GitHub and Gitea.
type Reaction struct {
	User      *User     `json:"user"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
}

// AddReactions returns a function that writes a reaction to something.
func (s *Source) AddReactions(of migration.Kind, to string) func(*Reaction) error {
	return func(r *Reaction) error {
		return s.Out.Add(migration.Reactions, &migration.Reaction{Kind: of, To: to, Person: s.People.Login(r.User),
			Content: r.Content, CreatedAt: r.CreatedAt})
	}
}

// Review is a review in answers of GitHub and Gitea.
type Review struct {
	ID          int64     `json:"id"`
	User        *User     `json:"user"`
	State       string    `json:"state"`
	Body        string    `json:"body"`
	Commit      string    `json:"commit_id"` // empty: the server has forgotten it
	SubmittedAt time.Time `json:"submitted_at"`
}

// AddReview writes a review of a pull request with a state. It returns the commit that was reviewed.
func (s *Source) AddReview(r *Review, pull *migration.Issue, state string) (commit string, err error) {
	commit = cmp.Or(r.Commit, pull.Pull.HeadSHA)
	return commit, s.Out.Add(migration.Reviews, &migration.Review{ID: strconv.FormatInt(r.ID, 10), Pull: pull.Number,
		Author: s.People.Login(r.User), State: state, Body: r.Body, Commit: commit, SubmittedAt: r.SubmittedAt})
}

// Hook is a webhook in answers of GitHub and Gitea.
type Hook struct {
	ID     int64    `json:"id"`
	Active bool     `json:"active"`
	Events []string `json:"events"`
	Config struct {
		URL         string `json:"url"`
		ContentType string `json:"content_type"`
		Insecure    string `json:"insecure_ssl"`
		Secret      string `json:"secret"` // never the secret itself
	} `json:"config"`
}

// AddHook writes a webhook, whose secret no server tells.
func (s *Source) AddHook(h *Hook) error {
	return s.Out.Add(migration.Hooks, &migration.Hook{ID: strconv.FormatInt(h.ID, 10), URL: h.Config.URL,
		ContentType: h.Config.ContentType, Insecure: h.Config.Insecure == "1", Active: h.Active, Events: h.Events,
		HadSecret: h.Config.Secret != ""})
}

// LeaveAbsent returns err unless it is a refusal because something does not exist or is not visible. Then
// LeaveAbsent adds a line to Left and returns nil.
func (s *Source) LeaveAbsent(what string, err error) error {
	if Absent(err) {
		s.Leave("%s: %v", what, err)
		return nil
	}
	return err
}
