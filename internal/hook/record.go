package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Event is an event that hooks may receive.
type Event struct {
	Name   string     // "issues"
	Action string     // "opened"; empty: the event has none
	Actor  account.ID // 0: the operator
	About  About
}

// About is what an event names. It is stored as JSON.
type About struct {
	Number int64      `json:"number,omitempty"` // of the issue, pull request or milestone
	ID     int64      `json:"id,omitempty"`     // of the comment, review, release, status or fork
	User   account.ID `json:"user,omitempty"`   // the affected user
	Team   int64      `json:"team,omitempty"`   // the id of the affected team
	Label  string     `json:"label,omitempty"`  // the name
	Title  string     `json:"title,omitempty"`  // of the milestone that an issue left or joined
	Ref    string     `json:"ref,omitempty"`    // refs/heads/main
	Before string     `json:"before,omitempty"` // SHAs
	After  string     `json:"after,omitempty"`
	Reason string     `json:"reason,omitempty"` // why auto-merge was disabled, or a merge queue left
	At     db.Time    `json:"at,omitzero"`

	Changes map[string]any `json:"changes,omitempty"` // as the payload has them

	// What the payload holds that was rendered in the transaction, since nothing is there afterwards; of a
	// repository_dispatch what the client sent.
	Parts map[string]json.RawMessage `json:"parts,omitempty"`
}

// From is a value before a change, as GitHub's payloads show it.
func From(v any) map[string]any { return map[string]any{"from": v} }

// Topic is that of the bell which wakes the sender.
const Topic = "hooks"

// perStatement is how many events one statement notes.
const perStatement = 50

// Record records events of a repository in their transaction: a row for each of its hooks, and of its
// organization's, that subscribes. It runs one statement for several events and any number of hooks.
// Payloads are rendered at the end of the transaction, so it may be called before all is written.
func Record(tx *db.Tx, repoID repo.ID, list ...Event) error {
	if unwatched(tx, repoID) {
		return nil
	}
	return record(tx, audience{hooks: ofRepo, installations: appsOfRepo}, repoID, repoID, list)
}

// ofRepo are the hooks of the repository $1 and of its organization.
const ofRepo = `(h.repo_id = $1 OR h.org_id = (SELECT owner_id FROM repos WHERE id = $1))`

// appsOfRepo are the installations of Apps that reach the repository $1.
const appsOfRepo = `i.account_id = (SELECT owner_id FROM repos WHERE id = $1) AND (i.every
	OR EXISTS (SELECT 1 FROM installation_repos x WHERE x.installation_id = i.id AND x.repo_id = $1))`

// recordDispatch is Record for events sent by clients, as large and as often as they like: webhooks with
// many waiting deliveries are skipped.
func recordDispatch(tx *db.Tx, repoID repo.ID, e Event) error {
	few := ` AND NOT EXISTS (SELECT 1 FROM hook_deliveries w
		WHERE w.hook_id = h.id AND w.state = 0 LIMIT 1 OFFSET ` + strconv.FormatInt(maxByHand-1, 10) + `)`
	return record(tx, audience{hooks: ofRepo + few, installations: appsOfRepo + few}, repoID,
		repoID, []Event{e})
}

// RecordForOwner is Record only for an organization's own webhooks and for Apps on an account: for a
// repository that is created, deleted or transferred away, or with repository 0 for members.
func RecordForOwner(tx *db.Tx, owner account.ID, repoID repo.ID, list ...Event) error {
	return record(tx, audience{owner: owner, hooks: `h.org_id = $1`,
		installations: `i.account_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR i.every
		OR EXISTS (SELECT 1 FROM installation_repos x WHERE x.installation_id = i.id AND x.repo_id = $2))`},
		owner, repoID, list)
}

// recordForApp records an event for the hook of an App, about an account: of an installation, or with id 0 of none. The
// App always receives it, even while the installation is suspended.
func recordForApp(
	tx *db.Tx, appID account.AppID, id account.InstallationID, of account.ID, e Event,
) error {
	about, err := web.Marshal(e.About)
	if err != nil {
		return err
	}
	r := newRows([]Event{e}, Telling{Owner: of})
	return r.insert(tx, `INSERT INTO hook_deliveries
			(hook_id, actor_id, event, action, about, created_at, installation_id, mark)
		SELECT h.id, CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT),
		`+tx.Engine().Clock()+`,
			CAST($6 AS BIGINT), CAST($7 AS BIGINT)
		FROM hooks h WHERE h.app_id = $1 AND h.active`,
		appID, db.OrNull(int64(e.Actor)), e.Name, e.Action, string(about), db.OrNull(id), r.mark)
}

// RecordForApp records a request to an App in a repository, only for the App's own webhook, even if the
// webhook does not subscribe to the event.
func RecordForApp(tx *db.Tx, appID account.AppID, repoID repo.ID, list ...Event) error {
	to := audience{hooks: `FALSE`, installations: appsOfRepo + ` AND i.app_id = ` + appID.String(),
		always: true}
	return record(tx, to, repoID, repoID, list)
}

// audience selects the hooks that receive an event: conditions for hooks h, and for installations i of
// Apps. $1 is the subject of both.
type audience struct {
	hooks, installations string
	always               bool       // regardless of the installations' events
	owner                account.ID // only this account's hooks; 0: those of the repository
}

func record(tx *db.Tx, to audience, of any, repoID repo.ID, list []Event) error {
	events := `i.events`
	if to.always {
		events = `',*,'`
	}
	for part := range slices.Chunk(list, perStatement) {
		r := newRows(part, Telling{RepoID: repoID, Owner: to.owner})
		args := []any{of, db.OrNull(int64(repoID)), r.mark}
		values := make([]string, len(part))
		for n, e := range part {
			about, err := web.Marshal(e.About)
			if err != nil {
				return err
			}
			k := len(args)
			values[n] = fmt.Sprintf(
				`(%d, CAST($%d AS TEXT), CAST($%d AS TEXT), CAST($%d AS BIGINT), CAST($%d AS TEXT))`,
				n, k+1, k+2, k+3, k+4)
			args = append(args, e.Name, e.Action, db.OrNull(int64(e.Actor)), string(about))
		}
		err := r.insert(tx, `WITH v (n, event, action, actor, about) AS (VALUES `+strings.Join(values,
			`, `)+`)
			INSERT INTO hook_deliveries
				(hook_id, repo_id, actor_id, event, action, about, created_at, installation_id, mark)
			SELECT h.id, CAST($2 AS BIGINT), v.actor, v.event, v.action, v.about, `+tx.Engine().Clock()+`,
				h.installation, CAST($3 AS BIGINT) + v.n
			FROM (SELECT h.id, h.events, CAST(NULL AS BIGINT) AS installation FROM hooks h
					WHERE h.active AND `+to.hooks+`
				UNION ALL SELECT h.id, `+events+`, i.id FROM installations i JOIN hooks h ON h.app_id = i.app_id
					WHERE h.active AND `+awake+` AND `+to.installations+`) h
				JOIN v ON h.events LIKE '%,' || v.event || ',%' OR h.events = ',*,'
			ORDER BY h.id, v.n`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Listening finds out whether a hook of a repository, or of its organization, wants to know of an event, for
// what must be rendered in the transaction. It gives what addresses in payloads begin with; nil: nobody
// listens.
func Listening(tx *db.Tx, repoID repo.ID, event string) (*web.Info, error) {
	if unwatched(tx, repoID) {
		return nil, nil
	}
	return listening(tx, audience{hooks: ofRepo, installations: appsOfRepo}, repoID, event)
}

// ListeningOwner is Listening for what RecordForOwner notes.
func ListeningOwner(tx *db.Tx, owner account.ID, event string) (*web.Info, error) {
	return listening(tx, audience{hooks: `h.org_id = $1`, installations: `i.account_id = $1`}, owner, event)
}

// Info is what payloads for a hook are rendered with.
func Info(site, prefix string) *web.Info {
	return &web.Info{Site: site, Prefix: prefix, ForHook: true, Media: web.Media{Graduated: true, JSON: true}}
}

// Part renders a value for About.Parts.
func Part(name string, v any) (map[string]json.RawMessage, error) {
	b, err := web.Marshal(v)
	return map[string]json.RawMessage{name: b}, err
}

// Bounds of one push, as at GitHub, whose bound for branches is larger.
const (
	maxTags     = 3
	maxBranches = 100
)

// NotePush records the branches and tags that were pushed, created or deleted. It ignores pushes of more than
// three tags, or a hundred branches, at once.
func NotePush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var branches, tags []Event
	var heads, marks int
	for _, u := range moved {
		if u.Old == u.New || u.By == 0 { // refs created with the repository
			continue
		}
		about := About{Ref: u.Name, Before: string(u.Old), After: string(u.New)}
		told := []Event{{Name: "push", Actor: u.By, About: about}}
		switch git.ZeroSHA {
		case u.Old:
			told = append([]Event{{Name: "create", Actor: u.By, About: about}}, told...)
		case u.New:
			told = append([]Event{{Name: "delete", Actor: u.By, About: about}}, told...)
		}
		switch {
		case strings.HasPrefix(u.Name, "refs/heads/"):
			heads++
			branches = append(branches, told...)
		case strings.HasPrefix(u.Name, "refs/tags/"):
			marks++
			tags = append(tags, told...)
		}
	}
	if heads > maxBranches {
		branches = nil
	}
	if marks > maxTags {
		tags = nil
	}
	return Record(tx, repoID, append(branches, tags...)...)
}
