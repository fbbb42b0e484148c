package rule

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// readNeeds reads what rules ask about the pull requests of a merge, in its transaction and in its order.
func readNeeds(tx *db.Tx, m *repo.Merge) ([]*needs, error) {
	pulls := m.Pulls()
	found, err := readManyNeeds(tx, pulls)
	if err != nil {
		return nil, err
	}
	list := make([]*needs, len(pulls))
	for n, id := range pulls {
		if list[n] = found[id]; list[n] == nil {
			return nil, errs.Absent()
		}
	}
	return list, nil
}

// readManyNeeds reads what rules ask about pull requests, by the ids of their issues.
func readManyNeeds(tx *db.Tx, pulls []int64) (map[int64]*needs, error) {
	found := map[int64]*needs{}
	if len(pulls) == 0 {
		return found, nil
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var n needs
		err := row.Scan(&id, &n.author, &n.pusher, &n.head, &n.unresolved)
		if n.pusher == 0 {
			n.pusher = n.author
		}
		found[id] = &n
		return err
	}, `SELECT p.issue_id, (SELECT i.author_id FROM issues i WHERE i.id = p.issue_id), p.pushed_by, p.head_sha,
		(SELECT COUNT(DISTINCT COALESCE(c.reply_to, c.id)) FROM review_comments c
			WHERE c.issue_id = p.issue_id AND c.pending = FALSE AND NOT EXISTS (
				SELECT 1 FROM resolved_threads t WHERE t.root_id = COALESCE(c.reply_to, c.id)))
		FROM pulls p WHERE p.issue_id IN `+db.Values(1, len(pulls)), db.Args(pulls)...)
	if err != nil {
		return nil, err
	}
	last := map[int64]map[account.ID]int{} // places in opinions
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var o opinion
		if err := row.Scan(&id, &o.author, &o.state, &o.commit); err != nil {
			return err
		}
		n := found[id]
		if n == nil || o.author == n.author {
			return nil
		}
		if last[id] == nil {
			last[id] = map[account.ID]int{}
		}
		if at, again := last[id][o.author]; again {
			n.opinions[at] = o
			return nil
		}
		last[id][o.author] = len(n.opinions)
		n.opinions = append(n.opinions, o)
		return nil
	}, `SELECT v.issue_id, v.author_id, v.state, v.commit_sha FROM reviews v
		JOIN repos r ON r.id = v.repo_id JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = r.owner_id AND m.user_id = v.author_id
		WHERE v.state IN (3, 4, 5)
			AND `+repo.HasRole("v.author_id", "$1")+`
			AND v.issue_id IN `+db.ValuesFrom(2, 1, len(pulls))+` ORDER BY v.id`,
		db.Args(pulls, int64(account.Push))...)
}

// checkedCommit is a commit in a repository.
type checkedCommit struct {
	repo repo.ID
	sha  git.SHA
}

// readChecks reads the latest statuses and check runs of commits in repositories, by their folded names.
func readChecks(
	tx *db.Tx, repos []repo.ID, commits []git.SHA,
) (map[checkedCommit]map[string][]checkState, error) {
	found := map[checkedCommit]map[string][]checkState{}
	err := db.InParts(commits, func(part []git.SHA) error {
		args := db.Args(part, db.Args(repos)...)
		of, in := db.Values(1, len(repos)), db.ValuesFrom(len(repos)+1, 1, len(part))
		return db.QueryEach(tx, func(row db.Scanner) error {
			var sha checkedCommit
			var name string
			var s checkState
			if err := row.Scan(&sha.repo, &sha.sha, &name, &s.app, &s.ok, &s.pending); err != nil {
				return err
			}
			if found[sha] == nil {
				found[sha] = map[string][]checkState{}
			}
			name = account.Fold(name)
			found[sha][name] = append(found[sha][name], s)
			return nil
		}, `SELECT c.repo_id, c.sha, c.context, COALESCE((SELECT a.id FROM apps a WHERE a.bot_id = s.creator_id), 0),
				c.state = 4, c.state = 3
			FROM status_contexts c JOIN statuses s ON s.id = c.status_id
			WHERE c.repo_id IN `+of+` AND c.sha IN `+in+`
			UNION ALL SELECT k.repo_id, k.head_sha, k.name, k.app_id, k.status = 3 AND k.conclusion >= 5, k.status <> 3
			FROM check_runs k WHERE k.repo_id IN `+of+` AND k.latest = TRUE AND k.head_sha IN `+in, args...)
	})
	return found, err
}

// appOf returns the id of the App whose bot an account is, or 0.
func appOf(tx *db.Tx, id account.ID) (app account.AppID, err error) {
	err = tx.QueryRow(`SELECT id FROM apps WHERE bot_id = $1`, id).Scan(&app)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return app, err
}

// ownsOrg reports whether a user is an owner of the organization that owns the repository.
func ownsOrg(tx *db.Tx, repoID repo.ID, id account.ID) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM repos r JOIN members m ON m.org_id = r.owner_id
		WHERE r.id = $1 AND m.user_id = $2 AND m.owner = TRUE)`, repoID, id).Scan(&is)
	return is, err
}

// appExists reports whether there is an App with an id.
func appExists(tx *db.Tx, id account.AppID) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM apps WHERE id = $1)`, id).Scan(&is)
	return is, err
}
