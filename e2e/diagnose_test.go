//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

const faultsNamespace = "faults"

// alarmsVariable has every run of `up` watched for false alarms.
const alarmsVariable = "CLUSTER_INIT_ALARMS"

// fault is something that is broken on purpose: the head of a file of testdata/faults, and the manifests below it.
type fault struct {
	name string
	// Rules are those of pkg/diagnose of which one must say what is wrong.
	Rules []string `json:"rules"`
	// Kustomization is put over the spec of the Kustomization that applies the manifests.
	Kustomization map[string]any `json:"kustomization"`
	// Cluster is that of testdata/fault-cluster.yaml in place of manifests of its own: the image of its machine, empty
	// for one that is well, and what it runs first.
	Cluster *struct {
		Image   string `json:"image"`
		Command string `json:"command"`
	} `json:"cluster"`
	manifests string
}

// TestMatrixDiagnose breaks many things at once in a management cluster that is well, each by real parts, and has all
// of them explained.
func TestMatrixDiagnose(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	t.Setenv(alarmsVariable, "1")
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	c, known, r := l.management(t), newLogin(), newRepository(t, nil)
	address := gitServer(t, newDoor(known), r.root)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "faults"},
		StringData: map[string]string{"username": known.user, "password": known.password}}
	if err := c.ApplyAll(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	look := []string{"diagnose", l.name, "-o", "json"}
	t.Run("a cluster that is well has no finding", func(t *testing.T) {
		soonWithout(t, func(t *testing.T) (problems []string) {
			code, report := l.diagnose(t, look...)
			for _, f := range slices.Concat(report.Findings, report.Waiting) {
				problems = append(problems, f.Object+": "+f.Cause+f.Message)
			}
			if code != 0 || len(report.NotChecked) > 0 {
				problems = append(problems, fmt.Sprintf("exit code %d, not looked at: %v", code, report.NotChecked))
			}
			return problems
		})
	})
	faults := readFaults(t, c, l, address, "faults")
	nameTaken(t, l)
	c.breaks(t, r, address, faults)
	t.Run("each of many faults is explained", func(t *testing.T) { l.explainsAll(t, look, faults) })
	t.Run("a load balancer that is frozen is named", func(t *testing.T) {
		balancer := l.name + "-lb"
		docker(t, "pause", balancer)
		defer docker(t, "unpause", balancer)
		_, report := l.diagnose(t, look...)
		if !slices.ContainsFunc(report.Findings, func(f diagnose.Finding) bool {
			return f.Rule == "paused-container" && strings.Contains(f.Cause, balancer)
		}) {
			t.Errorf("%+v", report)
		}
	})
	c.mends(t, faults)
	t.Run("machines that find no inotify instances are explained", func(t *testing.T) {
		l.isWell(t, look)
		faults := readFaults(t, c, l, address, "faults-alone")
		undo := withoutInotify(t)
		defer c.mends(t, faults) // after the host is as it was
		defer undo()
		c.breaks(t, r, address, faults)
		l.explainsAll(t, look, faults)
	})
	l.alone(t, c, look)
}

// explainsAll diagnoses until each fault is explained at once, for at most four minutes.
func (l lab) explainsAll(t *testing.T, look []string, faults []fault) {
	started := time.Now()
	missing, longest := map[string]string{}, time.Duration(0)
	for _, f := range faults {
		missing[f.name] = "never looked at"
	}
	explained := func() bool {
		asked := time.Now()
		_, report := l.diagnose(t, look...)
		longest = max(longest, time.Since(asked))
		for _, f := range faults {
			got, right := explanation(report, f)
			if _, before := missing[f.name]; before && right {
				t.Logf("%s after %s: %s", f.name, time.Since(started).Round(time.Second), got)
				delete(missing, f.name)
			} else if !right {
				if !before {
					t.Logf("%s is lost after %s: %s", f.name, time.Since(started).Round(time.Second), got)
				}
				missing[f.name] = got
			}
		}
		return len(missing) == 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for !explained() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	for name, got := range missing {
		t.Errorf("%s: %s", name, got)
	}
	t.Logf("%d of %d faults were explained; the longest diagnosis took %s", len(faults)-len(missing), len(faults),
		longest.Round(time.Millisecond))
}

// quietDuring fails the test if `diagnose` finds causes that cannot heal during a run of `up` that goes well, where the
// variable is set.
func (l lab) quietDuring(t *testing.T, args []string) (ended func(exitCode int)) {
	if os.Getenv(alarmsVariable) == "" || len(args) < 2 || args[0] != "up" || slices.Contains(args, "--dry-run") {
		return func(int) {}
	}
	look := []string{"diagnose", args[1], "-o", "json"}
	for i, arg := range args[:len(args)-1] {
		if slices.Contains([]string{"--set", "--values", "--kubeconfig", "--bootstrap-kubeconfig"}, arg) {
			look = append(look, arg, args[i+1])
		}
	}
	alarms, started := l.alarms(t, look), time.Now()
	return func(exitCode int) {
		raised, looks := alarms()
		if exitCode != 0 {
			return
		}
		// a run that finds all there ends before the first
		if t.Logf("%d diagnoses during a run that went well", looks); looks == 0 && time.Since(started) > time.Minute {
			t.Error("diagnose said nothing during a run that went well")
		}
		for _, a := range raised {
			t.Errorf("while all went well: %s", a)
		}
	}
}

// alarms looks for causes that cannot heal while something else runs, until the function that it returns is called.
// That returns them, and how many diagnoses were made.
func (l lab) alarms(t *testing.T, look []string) (stop func() (raised []string, looks int)) {
	ctx, cancel := context.WithCancel(t.Context())
	var raised []string
	looks, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(3 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			out, _ := l.command(ctx, look...).Output() // without a cluster it ends with 32
			var report diagnose.Report
			if json.Unmarshal(out, &report) != nil {
				continue
			}
			looks++
			for _, f := range report.Findings {
				if !f.Transient {
					raised = append(raised, fmt.Sprintf("%s %s: %s", f.Rule, f.Object, f.Cause))
				}
			}
		}
	}()
	return func() ([]string, int) {
		cancel()
		<-done
		return raised, looks
	}
}

// explanation is what a report says of a fault, and whether it is right: one of its rules, and no other.
func explanation(report diagnose.Report, f fault) (string, bool) {
	of := func(list []diagnose.Finding) (found []diagnose.Finding) {
		for _, each := range list {
			isIt := func(object string) bool {
				// what was made of it
				return strings.HasSuffix(object, "/fault-"+f.name) || strings.Contains(object, "/fault-"+f.name+"-")
			}
			if isIt(each.Object) || slices.ContainsFunc(each.Chain,
				func(l diagnose.Link) bool { return isIt(l.Object) }) || slices.ContainsFunc(each.Delays, isIt) {
				found = append(found, each)
			}
		}
		return found
	}
	var said []string
	right := false
	for _, each := range of(report.Findings) {
		said = append(said, each.Rule+": "+each.Cause)
		right = slices.Contains(f.Rules, each.Rule)
		if !right {
			break
		}
	}
	for _, each := range of(report.Waiting) {
		said = append(said, "waiting for "+each.Object+": "+each.Message)
	}
	return strings.Join(said, "; "), right
}

// diagnose runs the CLI and reads what it says.
func (l lab) diagnose(t *testing.T, args ...string) (code int, report diagnose.Report) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := l.command(ctx, args...)
	var out, errors bytes.Buffer
	c.Stdout, c.Stderr = &out, &errors
	_ = c.Run() // the exit code is looked at
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("cluster-init %v: %v\n%s%s", args, err, out.String(), errors.String())
	}
	return c.ProcessState.ExitCode(), report
}

// readFaults reads those of a folder of testdata.
func readFaults(t *testing.T, c cluster, l lab, address, folder string) []fault {
	t.Helper()
	files, err := filepath.Glob("testdata/" + folder + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no faults", err)
	}
	places := c.places(t, l, address)
	var faults []fault
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := fault{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		f.read(t, places.Replace(string(content)))
		if f.Cluster != nil {
			f.read(t, places.Replace(f.ofCluster(t)))
		}
		faults = append(faults, f)
	}
	return faults
}

// read takes a head and the manifests below it.
func (f *fault) read(t *testing.T, content string) {
	t.Helper()
	head, manifests, _ := strings.Cut(content, "\n---\n")
	if err := yaml.UnmarshalStrict([]byte(head), f); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	f.manifests = manifests
}

// ofCluster is the cluster of a fault.
func (f *fault) ofCluster(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("testdata/fault-cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("NAME", f.name, "FAULT", cmp.Or(f.Cluster.Image, "NODE"), "COMMAND",
		strconv.Quote(cmp.Or(f.Cluster.Command, "true"))).Replace(string(content))
}

// places are what the faults' files leave open: an image that every machine has, and servers.
func (c cluster) places(t *testing.T, l lab, address string) *strings.Replacer {
	t.Helper()
	dns := &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "coredns"}, dns); err != nil {
		t.Fatal(err)
	}
	b := l.openBundle(t)
	closed, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	return strings.NewReplacer("IMAGE", dns.Spec.Template.Spec.Containers[0].Image, "NODE", b.Index.NodeImage,
		"VERSION", b.Index.KubernetesVersion,
		"ADDRESS", address, "REGISTRY", registryServer(t, newDoor(newLogin())), "OPEN", expose(t, distribution(t)),
		"CLOSED", closed.Addr().String(),
		"TLS", secureServer(t, -time.Hour, time.Hour), "EARLY", secureServer(t, time.Hour, 2*time.Hour), "LATE",
		secureServer(t, -2*time.Hour, -time.Hour), "SSH", c.otherHost(t))
}

// secureServer serves nothing, with an untrusted certificate, and that is valid for a time given from now. It
// returns host:port.
func secureServer(t *testing.T, from, until time.Duration) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(from),
		NotAfter: time.Now().Add(until), IPAddresses: []net.IP{net.ParseIP(gateway(t))}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, tls.NewListener(listener,
		&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}}}),
		http.NotFoundHandler())
	return listener.Addr().String()
}

// nameTaken puts an unmanaged container where Cluster API's provider makes a load balancer.
func nameTaken(t *testing.T, l lab) {
	t.Helper()
	b := l.openBundle(t)
	const name = "fault-name-taken-lb"
	_ = exec.Command("docker", "rm", "--force", name).Run() // of a run that was interrupted
	docker(t, "create", "--name", name, b.Index.NodeImage)
	t.Cleanup(func() { docker(t, "rm", "--force", name) })
}

// breaks applies all faults, each by a Kustomization of its own from a folder of the repository.
func (c cluster) breaks(t *testing.T, r repository, address string, faults []fault) {
	t.Helper()
	for _, f := range faults {
		r.write(t, "faults/"+f.name+"/objects.yaml", f.manifests)
	}
	if err := os.RemoveAll(filepath.Join(r.work, "faults-chart")); err != nil { // of faults before these
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(r.work, "faults-chart"), os.DirFS("testdata/faults-chart")); err != nil {
		t.Fatal(err)
	}
	r.push(t, "faults")
	never := "nowhere"
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: faultsNamespace, Name: "fault-flux-immutable"},
		Immutable: new(bool), Data: map[string]string{"text": "first"}}
	*kept.Immutable = true
	silent, none, path := admissionv1.Fail, admissionv1.SideEffectClassNone, "/"
	webhook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "fault-webhook-silent"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "silent.faults.example.org", FailurePolicy: &silent, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"},
			ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"fault": "webhook-silent"}},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
				Namespace: faultsNamespace, Name: never, Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.OperationAll},
				Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"configmaps"}}}},
		}}}
	source := object("source.toolkit.fluxcd.io/v1", "GitRepository", flux.Namespace, "faults",
		map[string]any{"interval": "1h", "url": "http://" + address + "/" + r.name,
			"ref": map[string]any{"branch": "main"}, "secretRef": map[string]any{"name": "faults"}})
	// what was pushed before is there already
	source.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": time.Now().Format(time.RFC3339Nano)})
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: faultsNamespace}}, kept, webhook,
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: faultsNamespace, Name: never},
			Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "fault-limited"}}, source,
	} {
		if err := c.ApplyAll(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range faults {
		if err := c.ApplyAll(t.Context(), f.applied()); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
}

// applied is the Kustomization that applies a fault.
func (f fault) applied() client.Object {
	spec := map[string]any{"interval": "1h", "retryInterval": "30s", "timeout": "10s", "prune": true, "wait": true,
		"path":      "./faults/" + f.name,
		"sourceRef": map[string]any{"kind": "GitRepository", "name": "faults"}}
	for key, value := range f.Kustomization {
		spec[key] = value
	}
	return object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", flux.Namespace, "fault-"+f.name, spec)
}

// mends takes the faults away, and waits until their machines are gone. Clusters go first: Flux would delete what a
// machine needs to be deleted at the same time as the machine.
func (c cluster) mends(t *testing.T, faults []fault) {
	t.Helper()
	for _, f := range faults {
		if f.Cluster != nil {
			// or it would apply what goes
			suspend := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))
			if err := c.Patch(t.Context(), f.applied(), suspend); err != nil {
				t.Error(err)
			}
			c.takesDown(t, "default", "fault-"+f.name)
		}
	}
	for _, f := range faults {
		if err := c.Delete(t.Context(), f.applied()); err != nil {
			t.Error(err)
		}
	}
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Logf("left: %v", left)
		}
	}()
	eventually(t, "the machines of the faults are gone", 8*time.Minute, func(context.Context) bool {
		left = nil
		for _, f := range faults {
			left = append(left, containers(t, "io.x-k8s.kind.cluster=fault-"+f.name)...)
		}
		return len(left) == 0
	})
}
