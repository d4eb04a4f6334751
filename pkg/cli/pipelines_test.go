package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

const root = "../.."

// gitlabJob is what the tests read of a job for GitLab.
type gitlabJob struct {
	Image        string
	Services     []struct{ Name, Alias string }
	Variables    map[string]string
	Timeout      string
	Script       []string
	BeforeScript []string `json:"before_script"`
	AfterScript  []string `json:"after_script"`
	Artifacts    struct {
		When, Access string
		Paths        []string
	}
}

// githubJob is what the tests read of a job for GitHub.
type githubJob struct {
	Env   map[string]string
	Steps []struct {
		If, Run, Uses string
		With          map[string]any
	}
}

func TestGitLabPipeline(t *testing.T) {
	var file struct {
		Variables map[string]string
		Job       gitlabJob `json:"management-cluster"`
		Build     gitlabJob `json:"nightly-build"`
		Nightly   gitlabJob `json:"nightly-cleanup"`
	}
	readPipeline(t, "examples/ci/gitlab.yml", &file)
	installs(t, file.Job.BeforeScript, file.Variables)
	checkCommands(t, file.Job.Script, "up", file.Variables["ENVIRONMENT"])
	checkCommands(t, file.Job.AfterScript, "cleanup", file.Variables["ENVIRONMENT"])
	checkCommands(t, file.Build.Script, "up", file.Variables["ENVIRONMENT"])
	checkCommands(t, file.Build.Script, "status", file.Variables["ENVIRONMENT"])
	checkCommands(t, file.Nightly.Script, "cleanup", file.Variables["ENVIRONMENT"])
	leavesTimeForCleanup(t, file.Job)
	services := file.Job.Services
	if len(services) != 1 || !strings.Contains(services[0].Name, "dind") {
		t.Fatalf("services %+v", services)
	}
	if host := file.Job.Variables["DOCKER_HOST"]; host != "tcp://"+services[0].Alias+":2376" ||
		file.Job.Variables["DOCKER_TLS_VERIFY"] != "1" {
		t.Errorf("DOCKER_HOST %s is not the service by TLS", host)
	}
	if a := file.Job.Artifacts; a.When != "on_failure" || !slices.Equal(a.Paths, []string{defaultArtifacts + "/"}) ||
		a.Access != "developer" {
		t.Errorf("artifacts %+v", a)
	}
}

func TestGitHubWorkflow(t *testing.T) {
	var file struct {
		Permissions map[string]string
		Env         map[string]string
		Jobs        map[string]githubJob
	}
	readPipeline(t, "examples/ci/github.yml", &file)
	job := file.Jobs["management-cluster"]
	if len(file.Permissions) != 1 || file.Permissions["contents"] != "read" {
		t.Errorf("permissions %v, want to read the contents only", file.Permissions)
	}
	var script []string
	order := map[string]int{}
	for i, step := range job.Steps {
		switch {
		case strings.Contains(step.Run, "cleanup"):
			order["cleanup"] = i
			if step.If != "always()" {
				t.Errorf("cleanup runs if %q", step.If)
			}
			checkCommands(t, []string{step.Run}, "cleanup", "kubeadm-capd")
		case strings.Contains(step.Uses, "upload-artifact"):
			order["artifacts"] = i
			if !strings.Contains(step.If, "failure()") || step.With["path"] != defaultArtifacts+"/" {
				t.Errorf("artifacts %+v", step)
			}
		default:
			script = append(script, step.Run)
		}
	}
	if order["artifacts"] == 0 || order["cleanup"] < order["artifacts"] {
		t.Errorf("steps %q, in the order %v", script, order)
	}
	installs(t, script, file.Env)
	checkCommands(t, script, "up", "kubeadm-capd")
	if !strings.Contains(file.Env["ENVIRONMENT"], "'kubeadm-capd'") {
		t.Errorf("environment %q", file.Env["ENVIRONMENT"])
	}
	script = nil
	for _, step := range file.Jobs["nightly-cleanup"].Steps {
		script = append(script, step.Run)
	}
	installs(t, script, file.Env)
	checkCommands(t, script, "cleanup", "kubeadm-capd")
}

// leavesTimeForCleanup fails the test unless script and after_script together end before the job's timeout: GitLab runs
// no after_script of a job that reaches it.
func leavesTimeForCleanup(t *testing.T, job gitlabJob) {
	t.Helper()
	var sum time.Duration
	for _, name := range []string{"RUNNER_SCRIPT_TIMEOUT", "RUNNER_AFTER_SCRIPT_TIMEOUT"} {
		part, err := time.ParseDuration(job.Variables[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sum += part
	}
	timeout, err := time.ParseDuration(strings.Replace(job.Timeout, " minutes", "m", 1))
	if err != nil || sum >= timeout {
		t.Errorf("the scripts may take %s, and the job %s: %v", sum, timeout, err)
	}
}

func readPipeline(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// runs fails the test unless the script runs that command with flags that exist, of an environment that exists.
func checkCommands(t *testing.T, script []string, command, name string) {
	t.Helper()
	if !slices.Contains(environment.List(clusterinit.Content()), name) {
		t.Errorf("there is no environment %q", name)
	}
	call := regexp.MustCompile(`^bin/cluster-init ` + command + ` "\$ENVIRONMENT"(.*)$`)
	for _, line := range script {
		found := call.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		c, rest, err := newRoot(Streams{Out: io.Discard, Err: io.Discard}).Find(
			append([]string{command, name}, strings.Fields(found[1])...))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return
	}
	t.Errorf("%q runs no %s", script, command)
}
