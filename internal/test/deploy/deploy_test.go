// Package deploy holds the files of the folder deploy that start several nodes against what they rely on: the settings
// of Arbor, its routes, each other, and the schemas of Compose and Kubernetes.
package deploy

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"arbor/internal/test/testkit"
)

// Files that start several nodes.
const (
	compose    = "deploy/compose.yaml"
	kubernetes = "deploy/kubernetes.yaml"
)

// read returns a file of the project.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", name))
	testkit.NoError(t, err)
	return string(text)
}

// documents returns the YAML documents of a file. A key that is there twice is an error.
func documents[T any](t *testing.T, name string) []T {
	t.Helper()
	var all []T
	for d := yaml.NewDecoder(bytes.NewReader([]byte(read(t, name)))); ; {
		var one T
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		testkit.NoError(t, err)
		all = append(all, one)
	}
}

// composed is what tests read of a Compose file.
type composed struct {
	Services map[string]struct {
		Environment map[string]string
		Ports       []string
		Networks    map[string]struct {
			Address string `yaml:"ipv4_address"`
		}
	}
	Networks map[string]struct {
		IPAM struct{ Config []struct{ Subnet string } }
	}
	Configs map[string]struct{ Content string }
}

// config returns the text of a config of the Compose file as the container sees it.
func config(t *testing.T, name string) string {
	t.Helper()
	text := documents[composed](t, compose)[0].Configs[name].Content
	if text == "" {
		t.Fatalf("%s has no config %q", compose, name)
	}
	return strings.ReplaceAll(text, "$$", "$")
}

var (
	variable = regexp.MustCompile(`ARBOR_[A-Z_]+`)
	image    = regexp.MustCompile(`(?m)^ *image(?:Name)?: (\S+)$`)
)

// A node ignores a variable that is no setting, and would start with its default.
func TestVariablesAreSettings(t *testing.T) {
	t.Parallel()
	settings := read(t, "docs/settings.md")
	for _, name := range []string{compose, kubernetes} {
		found := variable.FindAllString(read(t, name), -1)
		for _, v := range found {
			if !strings.Contains(settings, "| `"+v+"` |") {
				t.Errorf("%s sets %s, which is no setting", name, v)
			}
		}
		for _, v := range []string{"ARBOR_DATABASE", "ARBOR_OBJECTS", "ARBOR_BASE_URL", "ARBOR_TRUST_PROXY"} {
			if !slices.Contains(found, v) {
				t.Errorf("%s does not set %s", name, v)
			}
		}
	}
}

// An upgrade changes one line.
func TestImagesAreNamedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{compose, kubernetes} {
		seen := map[string]bool{}
		for _, m := range image.FindAllStringSubmatch(read(t, name), -1) {
			if seen[m[1]] {
				t.Errorf("%s names the image %s twice", name, m[1])
			}
			seen[m[1]] = true
		}
		if len(seen) < 2 {
			t.Errorf("%s names the images %v, want those of Arbor and PostgreSQL at least", name, seen)
		}
	}
}

// The nodes find the database and the bucket, the balancer finds the nodes, and they trust only the balancer.
func TestServicesFindEachOther(t *testing.T) {
	t.Parallel()
	file := documents[composed](t, compose)[0]
	subnet := netip.MustParsePrefix(file.Networks["default"].IPAM.Config[0].Subnet)
	balancer := file.Services["balancer"]
	nginx := config(t, "balancer")
	if !strings.Contains(nginx, "listen "+strings.Split(balancer.Ports[0], ":")[1]+";") {
		t.Errorf("the balancer does not listen on the port of %q", balancer.Ports)
	}
	nodes := 0
	for name, service := range file.Services {
		objects := service.Environment["ARBOR_OBJECTS"]
		if objects == "" {
			continue
		}
		nodes++
		address := service.Networks["default"].Address
		if !subnet.Contains(netip.MustParseAddr(address)) || !strings.Contains(nginx, "server "+address+":8080 ") {
			t.Errorf("the balancer does not know %s at %s in %s", name, address, subnet)
		}
		if service.Environment["ARBOR_TRUST_PROXY"] != balancer.Networks["default"].Address+"/32" {
			t.Errorf("%s does not trust exactly the balancer", name)
		}
		_, hosts, _ := strings.Cut(service.Environment["ARBOR_DATABASE"], "@")
		hosts, settings, _ := strings.Cut(hosts, "/arbor?")
		at, err := url.Parse(objects)
		testkit.NoError(t, err)
		endpoint, err := url.Parse(at.Query().Get("endpoint"))
		testkit.NoError(t, err)
		for _, host := range append(strings.Split(hosts, ","), endpoint.Hostname()) {
			if _, found := file.Services[host]; !found {
				t.Errorf("%s asks %q, which is no service", name, host)
			}
		}
		if settings != "target_session_attrs=read-write" {
			t.Errorf("%s may write to a standby", name)
		}
	}
	if nodes != 3 || strings.Count(nginx, ":8080 max_fails") != nodes {
		t.Errorf("there are %d nodes, and the balancer differs", nodes)
	}
}

// object is what tests read of one of Kubernetes.
type object struct {
	Kind     string
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Data map[string]string
	Spec struct {
		ServiceName string `yaml:"serviceName"`
		Selector    map[string]any
		Ports       []port
		Rules       []struct {
			HTTP struct{ Paths []struct{ Backend backend } } `yaml:"http"`
		}
		Template struct {
			Metadata struct{ Labels map[string]any }
			Spec     struct {
				Grace      int64 `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Ports []port
					Ready probe `yaml:"readinessProbe"`
					Live  probe `yaml:"livenessProbe"`
				}
			}
		}
	}
}

type port struct {
	Name       string
	Container  string `yaml:"containerPort"`
	TargetPort string `yaml:"targetPort"`
}

type backend struct {
	Service struct {
		Name string
		Port struct{ Name string }
	}
}

type probe struct {
	Get struct{ Path, Port string } `yaml:"httpGet"`
}

// Requests reach the pods by the names of ports, and a pod has the time that it needs to stop.
func TestObjectsFindEachOther(t *testing.T) {
	t.Parallel()
	named := map[string]object{}
	for _, o := range documents[object](t, kubernetes) {
		named[o.Kind+" "+o.Metadata.Name] = o
	}
	set, settings := named["StatefulSet arbor"].Spec, named["ConfigMap arbor"].Data
	container := set.Template.Spec.Containers[0]
	listens := container.Ports[0]
	if !strings.HasSuffix(settings["ARBOR_LISTEN"], ":"+listens.Container) {
		t.Errorf("a node listens on %s, and its container on %s", settings["ARBOR_LISTEN"], listens.Container)
	}
	ready, live := container.Ready.Get, container.Live.Get
	if ready.Path != "/readyz" || live.Path != "/healthz" || ready.Port != listens.Name || live.Port != listens.Name {
		t.Errorf("probes ask %v and %v", ready, live)
	}
	for _, name := range []string{"arbor", set.ServiceName} {
		service := named["Service "+name].Spec
		if service.Selector["app"] != set.Template.Metadata.Labels["app"] || service.Ports[0].TargetPort != listens.Name {
			t.Errorf("the service %q does not reach the nodes", name)
		}
	}
	ingress := named["Ingress arbor"]
	to := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	if service := named["Service "+to.Name].Spec; len(service.Ports) == 0 || service.Ports[0].Name != to.Port.Name {
		t.Errorf("the ingress asks %v, which is no service", to)
	}
	if ingress.Metadata.Annotations["nginx.ingress.kubernetes.io/upstream-hash-by"] != "$repository" {
		t.Error("the ingress does not send requests for one repository to one node")
	}
	delay, err := time.ParseDuration(settings["ARBOR_SHUTDOWN_DELAY"])
	testkit.NoError(t, err)
	if grace := time.Duration(set.Template.Spec.Grace) * time.Second; grace <= delay+30*time.Second {
		t.Errorf("a node is killed after %v, and needs %v and half a minute", grace, delay)
	}
}

// The containers of PostgreSQL run scripts of the Compose file.
func TestScriptsParse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres-start", "postgres-init"} {
		check := exec.CommandContext(t.Context(), "bash", "-n")
		check.Stdin = strings.NewReader(config(t, name))
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("the script %s: %v: %s", name, err, out)
		}
	}
}
