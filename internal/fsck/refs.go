package fsck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// repositories looks at each repository: that its folder is there and holds all that
// its refs lead to. Then at the pull requests, whose heads are refs.
func (c *checker) repositories(ctx context.Context) error {
	var all int64
	err := c.DB.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM repos`).Scan(&all)
	})
	if err != nil {
		return err
	}
	for last := repo.ID(0); ; {
		ids, err := db.Get(ctx, c.DB, func(tx *db.Tx) ([]repo.ID, error) {
			return db.QueryIDs[repo.ID](tx, `SELECT id FROM repos WHERE id > $1 ORDER BY id LIMIT 500`,
				last)
		})
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return c.pulls(ctx)
		}
		names, err := c.names(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c.Progress("repositories", c.report.Repositories, all)
			c.report.Repositories++
			if err := c.repository(ctx, id, names[id]); err != nil {
				return err
			}
		}
		last = ids[len(ids)-1]
	}
}

// repository looks at one. What is wrong is looked at twice: refs move, and folders of
// deleted repositories go.
func (c *checker) repository(ctx context.Context, id repo.ID, name string) error {
	readable, err := c.frame(ctx, id, name)
	if err != nil || !readable {
		return err
	}
	tips, problem, err := c.lookAt(ctx, id, name)
	if err == nil && problem != "" {
		var again map[string]git.SHA
		if again, problem, err = c.lookAt(ctx, id, name); err == nil && problem != "" && !maps.Equal(again, tips) {
			_, problem, err = c.lookAt(ctx, id, name) // it moves at this moment: once more
		}
	}
	c.report.Refs += int64(len(tips))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if problem != "" {
		c.find(Finding{Part: "repositories", Repository: name, Problem: problem})
	}
	return nil
}

// frame checks what a repository's folder needs besides objects: without it git does not
// recognize the folder. HEAD is made last, so a folder without it is one whose making
// was cut short, as long as no ref needs it.
func (c *checker) frame(ctx context.Context, id repo.ID, name string) (readable bool, err error) {
	if kept, err := c.repos.IsKept(ctx, id); err != nil || kept { // its folder is a cache
		return kept, err
	}
	purges, err := c.repos.Purges(ctx, id)
	if err != nil {
		return false, err
	}
	objects, release, err := c.Git.Open(ctx, c.repos.Path(id, purges))
	if err != nil {
		return true, nil // lookAt reports it
	}
	defer release()
	parts, err := objects.Lacks()
	if err == nil && len(parts) == 0 {
		return true, nil
	}
	if !objects.Exists() {
		tips, noTips := c.repos.Tips(ctx, id)
		if noTips != nil || len(tips) == 0 {
			return false, noTips
		}
		if err == nil && !objects.HasFiles() {
			err = errors.New("it has no objects")
		}
	}
	if err != nil {
		if problem := c.gone(ctx, id, c.lost(repo.Folder{ID: id, Purges: purges}, name, err)); problem != "" {
			c.find(Finding{Part: "repositories", Repository: name, Problem: problem})
		}
		return false, nil
	}
	problem := c.gone(ctx, id, "its folder lacks, or has damaged: "+strings.Join(parts, ", "))
	if problem == "" {
		return false, nil
	}
	if !c.Repair {
		problem += "; its objects were not looked at"
	} else if err := objects.Complete(); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	c.find(Finding{Part: "repositories", Repository: name, Repairable: true, Repaired: c.Repair,
		Problem: problem})
	return c.Repair, nil
}

func (c *checker) lookAt(
	ctx context.Context, id repo.ID, name string,
) (tips map[string]git.SHA, problem string, err error) {
	if tips, err = c.repos.Tips(ctx, id); err != nil {
		return nil, "", err
	}
	purges, err := c.repos.Purges(ctx, id)
	if err != nil {
		return nil, "", err
	}
	objects, release, err := c.repos.Open(ctx, id, purges)
	if err != nil {
		return tips, c.gone(ctx, id, c.lost(repo.Folder{ID: id, Purges: purges}, name, err)), nil
	}
	defer release()
	if !objects.Exists() {
		return tips, "", nil // a folder is made with the first objects
	}
	shas := slices.Sorted(maps.Values(tips))
	if problem, err = objects.FirstMissing(ctx, slices.Compact(shas)); err != nil || problem != "" {
		return tips, c.gone(ctx, id, c.which(ctx, objects, tips, problem)), err
	}
	if c.Full {
		problem, err = objects.CheckObjects(ctx)
	}
	return tips, problem, err
}

// lost says what is wrong with a folder that cannot be used, and the way back.
func (c *checker) lost(f repo.Folder, name string, cause error) string {
	dir := c.repos.Path(f.ID, f.Purges)
	if errs.Is(cause, errs.Unavailable) {
		return fmt.Sprintf("its packs cannot be brought to %s: %v", dir, cause)
	}
	if e, ok := errors.AsType[*repo.FolderError](cause); ok {
		cause = e.Err
	}
	problem := fmt.Sprintf("its folder %s cannot be used: %v. ", dir, cause)
	if aside, err := repo.FindFolder(c.repos.Dir(), f.ID, f.Purges); err == nil && aside != dir {
		return problem + fmt.Sprintf("It was set aside as %s: rename it back, or wait: a running server "+
			"does that within hours", aside)
	}
	return problem + fmt.Sprintf("The way back: put the folder in its place again, owned by the server's account "+
		"(of a backup, arbor restore --data NEW BACKUP makes it as NEW/repositories/%s), and check again; or give "+
		"the repository up: arbor repo delete %s. --repair cannot mend it",
		filepath.ToSlash(repo.FolderPath(f.ID, f.Purges)), name)
}

// which names the refs whose own objects are missing, before git's words.
func (c *checker) which(
	ctx context.Context, objects *git.Repository, tips map[string]git.SHA, problem string,
) string {
	const most = 20
	told := 0
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		_, err := objects.Info(ctx, tips[name])
		if errs.Is(err, errs.NotFound) {
			if told++; told <= most {
				problem = fmt.Sprintf("%s leads to %s, which is not there; %s", name, tips[name], problem)
			}
		}
	}
	return problem
}

// gone is the problem, unless the repository was deleted.
func (c *checker) gone(ctx context.Context, id repo.ID, problem string) string {
	if names, err := c.names(ctx, []repo.ID{id}); err == nil && len(names) == 0 {
		return ""
	}
	return problem
}

// pulls compares the head of each pull request with its ref, and the numbers of its row
// with those of its issue.
func (c *checker) pulls(ctx context.Context) error {
	type pull struct {
		repo    repo.ID
		number  int64
		problem string
	}
	var list []pull
	err := c.DB.ReadLong(ctx, func(tx *db.Tx) error {
		list = list[:0]
		rows, err := tx.Query(`SELECT p.repo_id, p.number, CASE
				WHEN r.sha IS NULL THEN 'refs/pull/N/head is not there, its head is '||p.head_sha
				WHEN r.sha <> p.head_sha THEN 'refs/pull/N/head leads to '||r.sha||', its head is '||p.head_sha
				ELSE 'its issue has another number or repository' END
			FROM pulls p LEFT JOIN issues i ON i.id = p.issue_id
			LEFT JOIN refs r ON r.repo_id = p.repo_id AND r.name = 'refs/pull/'||p.number||'/head'
			WHERE r.sha IS NULL OR r.sha <> p.head_sha OR i.id IS NULL OR i.number <> p.number
			OR i.repo_id <> p.repo_id
				OR i.pull = FALSE
			UNION ALL SELECT i.repo_id, i.number, 'a pull request has no row of its own' FROM issues i
			LEFT JOIN pulls p ON p.issue_id = i.id WHERE i.pull = TRUE AND p.issue_id IS NULL`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() && len(list) < maxFindings {
			var p pull
			if err := rows.Scan(&p.repo, &p.number, &p.problem); err != nil {
				return err
			}
			list = append(list, p)
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	var ids []repo.ID
	for _, p := range list {
		ids = append(ids, p.repo)
	}
	slices.Sort(ids)
	names, err := c.names(ctx, slices.Compact(ids))
	for _, p := range list {
		c.find(Finding{Part: "repositories", Repository: names[p.repo],
			Problem: fmt.Sprintf("#%d: %s", p.number, p.problem)})
	}
	return err
}
