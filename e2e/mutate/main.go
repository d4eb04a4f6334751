// Command mutate changes the code of a package in one place at a time and runs the package's tests. A mutant that
// survives is code that no test verifies.
//
//	go run ./e2e/mutate -files 'verdict|settle' ./pkg/up
//
// It compiles the package once, with every mutant behind a switch, and runs for each mutant only the tests that reach
// it. It leaves the working tree as it is. Build tags come from GOFLAGS; without them only the unit tests run.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var r run
	flag.IntVar(&r.sample, "sample", 0, "test only so many mutants; 0: all")
	flag.Uint64Var(&r.seed, "seed", 1, "seed of the sample: the same seed gives the same mutants")
	flag.StringVar(&r.files, "files", "", "regular expression for the names of the files to mutate; empty: all")
	flag.StringVar(&r.tester, "tests", "", "package whose tests run; empty: PACKAGE")
	flag.StringVar(&r.match, "run", ".", "regular expression for the tests to run")
	flag.DurationVar(&r.timeout, "timeout", time.Minute, "bound for the tests of one mutant")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./e2e/mutate [flags] PACKAGE")
		os.Exit(2)
	}
	r.pkg, r.out = flag.Arg(0), os.Stdout
	if r.tester == "" {
		r.tester = r.pkg
	}
	if err := r.do(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type run struct {
	pkg, files    string
	tester, match string // the package whose tests run, and which of them
	sample        int
	seed          uint64
	timeout       time.Duration
	dir           string // where the go command runs; empty: here
	out           io.Writer
}

// sources are the files to mutate.
type sources struct {
	dir, name string // of their package
	testDir   string // of the package whose tests run
	files     []string
	text      map[string]string
}

func (r run) do(ctx context.Context) error {
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s, err := r.read(ctx)
	if err != nil {
		return err
	}
	list, _, err := s.instrument(func(int) bool { return false })
	if err != nil {
		return err
	}
	enabled := r.choose(len(list))
	binary := filepath.Join(work, "tests")
	if err := r.compile(ctx, s, list, enabled, work, binary); err != nil {
		return err
	}
	reached, err := r.reached(ctx, s, binary, work)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for id, m := range list {
		if !enabled[id] {
			continue
		}
		outcome := "not reached"
		if tests := reached[strconv.Itoa(id)]; tests != nil {
			outcome = "survived"
			if r.killed(ctx, s, binary, id, tests) {
				outcome = "killed"
			}
		}
		counts[outcome]++
		if outcome != "killed" {
			fmt.Fprintf(r.out, "%s:%d: %s: %s\n", m.file, m.line, outcome, m.what)
		}
	}
	_, err = fmt.Fprintf(r.out, "%s: %d mutants, %d killed, %d survived, %d not reached\n",
		r.pkg, len(enabled), counts["killed"], counts["survived"], counts["not reached"])
	return err
}

// read returns the files of the package that match.
func (r run) read(ctx context.Context) (sources, error) {
	match, err := regexp.Compile(r.files)
	if err != nil {
		return sources{}, err
	}
	listed, err := r.list(ctx, r.pkg)
	if err != nil {
		return sources{}, err
	}
	tester, err := r.list(ctx, r.tester)
	if err != nil {
		return sources{}, err
	}
	s := sources{dir: listed.Dir, testDir: tester.Dir, name: listed.Name, text: map[string]string{}}
	for _, file := range listed.GoFiles {
		if !match.MatchString(file) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			return sources{}, err
		}
		s.files, s.text[file] = append(s.files, file), string(text)
	}
	return s, nil
}

type listed struct {
	Dir, Name string
	GoFiles   []string
}

func (r run) list(ctx context.Context, pkg string) (l listed, err error) {
	command := exec.CommandContext(ctx, "go", "list", "-json=Dir,Name,GoFiles", pkg)
	command.Dir, command.Stderr = r.dir, os.Stderr
	output, err := command.Output()
	if err != nil {
		return l, fmt.Errorf("go list %s: %w", pkg, err)
	}
	return l, json.Unmarshal(output, &l)
}

func (s sources) instrument(enabled func(id int) bool) ([]mutant, map[string]string, error) {
	m, instrumented := mutator{enabled: enabled}, map[string]string{"mutant_switches.go": fmt.Sprintf(switches, s.name)}
	for _, file := range s.files {
		text, err := m.instrument(file, s.text[file])
		if err != nil {
			return nil, nil, err
		}
		instrumented[file] = text
	}
	return m.mutants, instrumented, nil
}

// choose returns the mutants to test.
func (r run) choose(total int) map[int]bool {
	order := rand.New(rand.NewPCG(r.seed, 0)).Perm(total)
	if r.sample > 0 && r.sample < total {
		order = order[:r.sample]
	}
	chosen := map[int]bool{}
	for _, id := range order {
		chosen[id] = true
	}
	return chosen
}

var compileError = regexp.MustCompile(`(?m)([^/\s:]+\.go):(\d+):`)

// compile builds the tests with all enabled mutants. It disables those on lines that the compiler refuses.
func (r run) compile(ctx context.Context, s sources, list []mutant, enabled map[int]bool, work, binary string) error {
	for {
		_, instrumented, err := s.instrument(func(id int) bool { return enabled[id] })
		if err != nil {
			return err
		}
		overlay := map[string]string{}
		for file, text := range instrumented {
			path := filepath.Join(work, file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
			overlay[filepath.Join(s.dir, file)] = path
		}
		content, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			return err
		}
		config := filepath.Join(work, "overlay.json")
		if err := os.WriteFile(config, content, 0o600); err != nil {
			return err
		}
		command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=-e",
			"-overlay", config, "-o", binary, r.tester)
		command.Dir = r.dir
		output, err := command.CombinedOutput()
		if err == nil {
			return nil
		}
		remaining := len(enabled)
		for _, found := range compileError.FindAllStringSubmatch(string(output), -1) {
			line, _ := strconv.Atoi(found[2])
			maps.DeleteFunc(enabled, func(id int, _ bool) bool {
				return list[id].file == found[1] &&
					list[id].line == line
			})
		}
		if len(enabled) == remaining {
			return fmt.Errorf("compile the tests of %s: %w\n%s", r.tester, err, strings.TrimSpace(string(output)))
		}
	}
}

// reach is a test that reaches a mutant, and how long it takes without any.
type reach struct {
	test string
	took time.Duration
}

// reached runs each test without any mutant, and returns the tests that reach a mutant, by its ID, fast ones first.
func (r run) reached(ctx context.Context, s sources, binary, work string) (map[string][]reach, error) {
	names, err := r.test(ctx, s, binary, "CLUSTER_INIT_MUTANT=", "-test.list="+r.match)
	if err != nil {
		return nil, err
	}
	reached := map[string][]reach{}
	for _, name := range strings.Fields(string(names)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		record, begin := filepath.Join(work, name), time.Now()
		if output, err := r.test(ctx, s, binary, "CLUSTER_INIT_MUTANT_RECORD="+record, "-test.run=^"+name+
			"$"); err != nil {
			return nil, fmt.Errorf("%s fails without any mutant: %w\n%s", name, err, output)
		}
		took := time.Since(begin)
		ids, err := os.ReadFile(record)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, id := range strings.Fields(string(ids)) {
			reached[id] = append(reached[id], reach{name, took})
		}
	}
	for _, tests := range reached {
		slices.SortFunc(tests, func(a, b reach) int { return cmp.Compare(a.took, b.took) })
	}
	return reached, nil
}

// killed reports whether a test fails under a mutant. The first half of the tests, the fast ones, runs before the rest.
func (r run) killed(ctx context.Context, s sources, binary string, id int, tests []reach) bool {
	variable, half := fmt.Sprintf("CLUSTER_INIT_MUTANT=%d", id), (len(tests)+1)/2
	for _, group := range [][]reach{tests[:half], tests[half:]} {
		var names []string
		for _, t := range group {
			names = append(names, t.test)
		}
		if len(names) == 0 {
			continue
		}
		if _, err := r.test(ctx, s, binary, variable, "-test.run=^("+strings.Join(names, "|")+")$"); err != nil {
			return true
		}
	}
	return false
}

// test runs the binary as `go test` does, in the folder of the package.
func (r run) test(ctx context.Context, s sources, binary, variable, argument string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	// A mutant may take memory without end: at most 6 GiB.
	command := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 6291456; exec "$0" "$@"`, binary, "-test.failfast",
		argument)
	command.Dir = s.testDir
	command.Env = append(os.Environ(), variable, "TMPDIR="+filepath.Dir(binary)) // what a mutant leaves there goes, too
	command.WaitDelay = time.Second
	return command.CombinedOutput()
}
