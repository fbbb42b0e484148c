package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/external"
	"arbor/internal/file"
	"arbor/internal/forge"
	"arbor/internal/mirror"
	"arbor/internal/oauth/openid"
	"arbor/internal/repo"
	"arbor/internal/signup"
)

// store looks at the database.
func (d *doctor) store(ctx context.Context) {
	database, git, closing, err := d.Open(ctx)
	if err != nil {
		d.failed("database", "the store cannot be opened",
			"see the cause on the terminal; is --database that of the server?", err)
		return
	}
	f := forge.New(database, git, slog.New(slog.DiscardHandler), d.Folder)
	workers := map[string]interface {
		Backlog(tx *db.Tx) (db.Backlog, error)
	}{"test merges": f.Pulls, "pushed commits": f.Closing, "packings": f.Maintenance}
	before := len(d.report.Checks)
	err = database.ReadLong(ctx, func(tx *db.Tx) error {
		d.report.Checks = d.report.Checks[:before] // it may run again
		if err := d.clock(tx); err != nil {
			return err
		}
		if err := d.nodes(tx); err != nil {
			return err
		}
		if err := d.engine(tx); err != nil {
			return err
		}
		if err := d.sizes(tx); err != nil {
			return err
		}
		if err := d.backup(tx); err != nil {
			return err
		}
		if err := d.signup(tx); err != nil {
			return err
		}
		if err := d.mirrors(tx, f.Mirrors); err != nil {
			return err
		}
		if err := d.provisioning(tx); err != nil {
			return err
		}
		if err := d.openid(tx); err != nil {
			return err
		}
		for _, kind := range slices.Sorted(maps.Keys(workers)) {
			b, err := workers[kind].Backlog(tx)
			if err != nil {
				return err
			}
			d.jobs(kind, b)
		}
		return nil
	})
	if err != nil {
		d.failed("database", "it cannot be read",
			"see the cause on the terminal; arbor check looks closer", err)
	}
	d.files(ctx, f.Files)
	if err := closing(); err != nil {
		d.Cause("database", err)
	}
}

// files asks the storage of files, if that is not the data folder. Its address is not in the report.
func (d *doctor) files(ctx context.Context, stored *file.Store) {
	const name = "storage of files"
	switch remote, err := stored.Check(ctx); {
	case err != nil:
		d.failed(name, "it does not answer, or is another store's",
			"check the address of --objects, its keys and the network from this machine, see docs/nodes.md", err)
	case remote:
		d.add(name, OK, "it answers, and belongs to this store", "")
	}
}

// clock compares this machine's clock with the database's.
func (d *doctor) clock(tx *db.Tx) error {
	before := time.Now()
	at, err := tx.Clock()
	if err != nil {
		return err
	}
	after := time.Now()
	skew := max(before.Sub(at.Time()), at.Time().Sub(after), 0) // the query's duration is not skew
	if skew > db.MaxSkew {
		d.add("clock", Warn, fmt.Sprintf("%s off the database's", skew.Round(time.Millisecond)),
			"let both machines take the time from one source (NTP)")
	} else {
		d.add("clock", OK, "in step with the database", "")
	}
	return nil
}

// nodes reports which servers work on the store, without the names of their machines.
func (d *doctor) nodes(tx *db.Tx) error {
	list, err := db.Nodes(tx)
	if err != nil {
		return err
	}
	versions, lost := map[string]int{}, 0
	for _, n := range list {
		if n.Live {
			versions[n.Version]++
		} else {
			lost++
		}
	}
	found := "no server runs"
	if len(versions) > 0 {
		var parts []string
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			parts = append(parts, fmt.Sprintf("%d of version %s", versions[version], version))
		}
		found = strings.Join(parts, ", ")
	}
	if lost > 0 {
		found += fmt.Sprintf("; %d were lost within a day", lost)
	}
	if len(versions) > 1 {
		d.add("nodes", Warn, found, "end the upgrade: see docs/nodes.md")
	} else {
		d.add("nodes", OK, found, "")
	}
	return nil
}

// questions are what each engine is asked about itself, in one statement.
var questions = map[db.Engine][]struct{ name, query, want string }{
	db.SQLite: {
		{"version", `sqlite_version()`, ""},
		{"journal_mode", `(SELECT journal_mode FROM pragma_journal_mode)`, "wal"},
		{"page_size", `(SELECT CAST(page_size AS TEXT) FROM pragma_page_size)`, ""},
		{"pages", `(SELECT CAST(page_count AS TEXT) FROM pragma_page_count)`, ""},
		{"free_pages", `(SELECT CAST(freelist_count AS TEXT) FROM pragma_freelist_count)`, ""},
		{"auto_vacuum", `(SELECT CAST(auto_vacuum AS TEXT) FROM pragma_auto_vacuum)`, ""},
	},
	db.PostgreSQL: {
		{"version", `current_setting('server_version')`, ""}, {"fsync", `current_setting('fsync')`, "on"},
		{"full_page_writes", `current_setting('full_page_writes')`, "on"},
		{"synchronous_commit", `current_setting('synchronous_commit')`, ""},
		{"max_connections", `current_setting('max_connections')`, ""},
		{"server_encoding", `current_setting('server_encoding')`, "UTF8"},
	},
}

// engine reports the database and its settings that affect durability.
func (d *doctor) engine(tx *db.Tx) error {
	versions, err := db.Versions(tx)
	if err != nil {
		return err
	}
	found, status, advice := []string{tx.Engine().String()}, OK, ""
	asked := questions[tx.Engine()]
	queries, values, into := make([]string, len(asked)), make([]string, len(asked)), make([]any, len(asked))
	for n, q := range asked {
		queries[n], into[n] = q.query, &values[n]
	}
	if err := tx.QueryRow(`SELECT ` + strings.Join(queries, ", ")).Scan(into...); err != nil {
		return err
	}
	for n, q := range asked {
		value := values[n]
		found = append(found, q.name+" "+value)
		if q.want != "" && value != q.want || q.name == "synchronous_commit" && value == "off" {
			status, advice = Warn, "with "+q.name+" "+value+
				" what was acknowledged may be lost: set it as PostgreSQL does by itself"
		}
	}
	d.add("database", status, strings.Join(found, ", "), advice)
	d.add("schema", OK, fmt.Sprintf("version %d", versions[len(versions)-1].Number), "")
	return nil
}

// sizes reports orders of magnitude, from the last ids, so that no rows are counted.
func (d *doctor) sizes(tx *db.Tx) error {
	tables := []string{"accounts", "repos", "issues", "issue_comments", "tokens", "audit"}
	queries, last, into := make([]string, len(tables)), make([]int64, len(tables)), make([]any, len(tables))
	for n, table := range tables {
		queries[n], into[n] = `(SELECT COALESCE(max(id), 0) FROM `+table+`)`, &last[n]
	}
	if err := tx.QueryRow(`SELECT ` + strings.Join(queries, ", ")).Scan(into...); err != nil {
		return err
	}
	var found []string
	for n, table := range tables {
		found = append(found, table+" "+order(last[n]))
	}
	d.add("size", OK, strings.Join(found, ", "), "")
	return nil
}

// oldBackup is the age from which a backup is looked at as too old: two nights.
const oldBackup = 48 * time.Hour

// backup says how old the last whole backup is.
func (d *doctor) backup(tx *db.Tx) error {
	at, err := repo.LastBackup(tx)
	if err != nil {
		return err
	}
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	const advice = "let arbor backup run every night"
	age := max(now.Time().Sub(at.Time()), 0)
	switch {
	case at == 0:
		d.add("backup", Warn, "no backup yet", advice)
	case age > oldBackup:
		d.add("backup", Warn, fmt.Sprintf("the last whole one is %d days old", int(age.Hours())/24), advice)
	default:
		d.add("backup", OK, fmt.Sprintf("the last whole one is %d hours and %d minutes old", int(age.Hours()),
			int(age.Minutes())%60), "")
	}
	return nil
}

// jobs reports the waiting jobs of one kind.
func (d *doctor) jobs(kind string, b db.Backlog) {
	found := fmt.Sprintf("%s pending, %s failed before", order(b.Pending), order(b.Retried))
	if b.Retried > 0 {
		d.add(kind, Warn, found,
			"the server's log says why, where it names these jobs; attach those lines after you looked through them")
		return
	}
	d.add(kind, OK, found, "")
}

// mirrors reports mirrors that do not work, if there are any mirrors.
func (d *doctor) mirrors(tx *db.Tx, mirrors *mirror.Service) error {
	c, err := mirror.Count(tx)
	if err != nil || c.All == 0 {
		return err
	}
	locked, err := mirrors.Locked(tx)
	if err != nil {
		return err
	}
	found := fmt.Sprintf("%s mirrors, %s failing, %s stopped", order(c.All), order(c.Failing), order(c.Stopped))
	switch {
	case len(locked) > 0:
		d.add("mirrors", Warn, found+", "+order(int64(len(locked)))+" secrets that mirrors/key cannot decrypt",
			"enter passwords and create webhook secrets again, or restore mirrors/key of the former data folder")
	case c.Failing+c.Stopped > 0:
		d.add("mirrors", Warn, found, "arbor mirror list OWNER/NAME says why")
	default:
		d.add("mirrors", OK, found, "")
	}
	return nil
}

// signup reports how accounts begin, unless administrators make them, and whether they can.
func (d *doctor) signup(tx *db.Tx) error {
	state, err := signup.StateIn(tx)
	if err != nil || state.Mode == signup.Closed {
		return err
	}
	const name = "sign-up"
	switch {
	case state.Mode == signup.Domain && d.Mail == nil:
		d.add(name, Warn, "people need a mail to begin an account, and no mail is sent",
			"set --mail-server, see docs/mail.md; until then administrators alone create accounts")
	case state.Direct() && d.Mail == nil:
		d.add(name, OK, string(state.Mode)+", without mail: nobody verifies addresses", "")
	default:
		d.add(name, OK, string(state.Mode), "")
	}
	return nil
}

// provisioning tells of the sources that provision people by SCIM. Their names are not in the report.
func (d *doctor) provisioning(tx *db.Tx) error {
	if d.Provisioners == nil {
		return nil
	}
	sources, err := d.Provisioners()
	if err != nil {
		return nil // providers told of the file
	}
	for n, source := range sources {
		check := fmt.Sprintf("provisioning %d", n+1)
		problem, err := external.CheckProvisioner(tx, source)
		if err != nil {
			return err
		}
		if problem != "" {
			d.add(check, Fail, problem, "make that account a site administrator with a token of the scope scim:enterprise, "+
				"see docs/sign-in.md")
			continue
		}
		has, err := external.ProvisionsIn(tx, source)
		if err != nil {
			return err
		}
		d.add(check, OK, fmt.Sprintf("%d users, of whom %d are active, and %d groups", has.People, has.Active, has.Groups), "")
	}
	return nil
}

// openid reports whether programs can sign people in with this server by OpenID Connect.
func (d *doctor) openid(tx *db.Tx) error {
	const name = "sign-in to programs"
	state, err := openid.StateIn(tx)
	switch {
	case err != nil:
		return err
	case state.Broken:
		d.add(name, Fail, "the key that signs ID tokens cannot be read",
			"run arbor oauth-app rotate-key --remove-former")
	case state.Apps == 0:
	case state.Signed != 0 && d.Settings["base-url"] == "(not set)":
		d.add(name, Warn,
			fmt.Sprintf("%d OAuth Apps, and ID tokens name the address of each request as issuer", state.Apps),
			"set --base-url to the address that programs know")
	default:
		d.add(name, OK, fmt.Sprintf("%d OAuth Apps", state.Apps), "")
	}
	return nil
}
