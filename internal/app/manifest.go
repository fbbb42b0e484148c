package app

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Resource is the name of Apps in validation errors (decision 15).
const Resource = "Integration"

// Manifest describes an App that is to be made.
type Manifest struct {
	Name        string
	URL         string // its own page
	Description string // empty: none
	Public      bool
	Hook        Hook
	Permissions scope.Permissions
	Events      []string
	SignIn      oauth.About // how it signs users in: callback addresses and how tokens are given out
	Redirect    string      // the browser is redirected there with a code after confirmation; empty: nowhere
}

// Hook is the App's webhook. An empty URL may be set later.
type Hook struct {
	URL    string
	Active bool
	Secret string
	Site   string // base of the addresses in the App's events; later the address by which the App reaches the server
}

// Bounds of a manifest.
const (
	MaxManifest    = 64 << 10 // bytes
	maxURL         = 2048
	maxDescription = 1000
	maxEvents      = 200
	maxCallbacks   = 10
)

// ParseManifest reads GitHub's manifest of an App (JSON). Fields for what Arbor has not are left alone. Errors: 400, 422.
func ParseManifest(data []byte) (m Manifest, err error) {
	if len(data) > MaxManifest {
		return m, errs.New(errs.TooLarge, "a manifest has 64 KiB at most")
	}
	o, err := web.ParseObject(data, Resource)
	if err != nil {
		return m, err
	}
	o.Require("name", "url")
	m.Name, m.URL = o.String("name", maxName).Value, o.String("url", maxURL).Value
	m.Description = o.String("description", maxDescription).Value
	m.Redirect = o.String("redirect_url", maxURL).Value
	m.Public = o.Bool("public").Value
	m.SignIn.Callbacks = o.Strings("callback_urls", maxCallbacks, maxURL).Value
	m.SignIn.OnInstall = o.Bool("request_oauth_on_install").Value
	m.Events = o.Strings("default_events", maxEvents, 100).Value
	if raw := o.Raw("hook_attributes"); given(raw) {
		nested, err := web.ParseObject(raw, Resource)
		if err != nil {
			return m, err
		}
		m.Hook.URL = nested.String("url", maxURL).Value
		m.Hook.Active = nested.Bool("active").Or(m.Hook.URL != "")
		if err := nested.Err(); err != nil {
			return m, err
		}
	}
	asked := map[string]string{}
	if raw := o.Raw("default_permissions"); given(raw) && json.Unmarshal(raw, &asked) != nil {
		o.Wrong("default_permissions", errs.InvalidField, `"default_permissions" must be an object of texts`)
	}
	if err := o.Err(); err != nil {
		return m, err
	}
	if m.Permissions, err = scope.NewPermissions(asked); err != nil {
		return m, err
	}
	return m, m.check()
}

func given(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// check completes a manifest and validates it. Every App may read metadata. Errors: 422.
func (m *Manifest) check() error {
	m.Name, m.Description = strings.TrimSpace(m.Name), strings.TrimSpace(m.Description)
	if m.Permissions == nil {
		m.Permissions = scope.Permissions{}
	}
	m.Permissions["metadata"] = "read"
	m.Events = tidy(m.Events)
	switch u, err := url.Parse(m.URL); {
	case m.Name == "" || strings.ContainsFunc(m.Name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return errs.New(errs.Invalid, "an App has a name, in one line")
	case len([]rune(m.Name)) > maxName:
		return errs.Newf(errs.Invalid, "the name of an App has %d characters at most", maxName)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errs.New(errs.Invalid, "url must be an address that begins with http:// or https://")
	}
	if err := oauth.CheckGitHubApp(m.SignIn); err != nil {
		return err
	}
	if m.Redirect != "" && m.RedirectSite() == "" {
		return errs.New(errs.Invalid, "redirect_url must be an address that begins with http:// or https://")
	}
	for _, e := range m.Events {
		if needs, known := eventNeeds[e]; !known {
			return errs.Newf(errs.Invalid, "unknown event %q", errs.Clip(e))
		} else if !slices.ContainsFunc(needs, func(p string) bool { return m.Permissions.Has(p, "read") }) {
			return errs.Newf(errs.Invalid, "Default events are not supported by permissions: %s takes %s",
				e, strings.Join(needs, " or "))
		}
	}
	return nil
}

// RedirectSite is the scheme and host to which the manifest leads, of plain letters; empty: to none.
func (m *Manifest) RedirectSite() string {
	u, err := url.Parse(m.Redirect)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(u.Host, func(c rune) bool {
			return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
				strings.ContainsRune("-._:[]", c))
		}) {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// RedirectWith is the address to which the manifest leads with a code and the state that the program gave.
func (m *Manifest) RedirectWith(code, state string) string {
	u, err := url.Parse(m.Redirect)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("code", code)
	if state != "" {
		q.Set("state", state)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// eventNeeds are the events that an App may list, each with the permissions that allow it (one suffices), as
// GitHub's documentation of events says. Other events an App receives always, or never.
var eventNeeds = needsOf(map[string]string{
	"checks":                      "check_run check_suite",
	"contents":                    "commit_comment create delete fork gollum push release repository_dispatch",
	"issues":                      "issues issue_comment label milestone issue_dependencies sub_issues",
	"pull_requests":               "pull_request pull_request_review pull_request_review_comment pull_request_review_thread issue_comment label milestone",
	"metadata":                    "label public repository star watch meta repository_import",
	"members":                     "member membership organization team team_add",
	"statuses":                    "status",
	"actions":                     "workflow_dispatch workflow_job workflow_run",
	"administration":              "branch_protection_configuration branch_protection_rule deploy_key repository_ruleset team_add",
	"deployments":                 "deployment deployment_status deployment_review deployment_protection_rule",
	"discussions":                 "discussion discussion_comment",
	"merge_queues":                "merge_group",
	"packages":                    "package registry_package",
	"pages":                       "page_build",
	"security_events":             "code_scanning_alert",
	"secret_scanning_alerts":      "secret_scanning_alert secret_scanning_alert_location secret_scanning_scan",
	"vulnerability_alerts":        "dependabot_alert repository_vulnerability_alert",
	"repository_projects":         "project project_card project_column",
	"organization_projects":       "projects_v2 projects_v2_item projects_v2_status_update project project_card project_column",
	"organization_administration": "org_block security_and_analysis",
})

func needsOf(byPermission map[string]string) map[string][]string {
	list := map[string][]string{}
	for permission, events := range byPermission {
		for _, e := range strings.Fields(events) {
			list[e] = append(list[e], permission)
		}
	}
	for e := range list {
		slices.Sort(list[e])
	}
	return list
}
