package main

import (
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// JMeter as Debian packages it (jmeter, jmeter-http). Its XStream has become
// stricter than JMeter 2.13 expects, so that it refuses every test plan;
// Launch.java allows its classes again and starts it.

//go:embed jmeter.jmx
var jmeterPlan string

//go:embed Launch.java
var jmeterLaunch []byte

const (
	jmeterHome = "/usr/share/jmeter"
	jmeterJars = jmeterHome + "/bin/ApacheJMeter.jar:" + jmeterHome + "/lib/*:" + jmeterHome + "/lib/ext/*:/usr/share/java/*"
	jmeterHTTP = jmeterHome + "/lib/ext/ApacheJMeter_http.jar"
	// jmeterWarmUp makes JMeter's runs longer: its start and compilation would
	// be most of a short one.
	jmeterWarmUp = 10 * time.Second
)

// jmeter returns the client, or false where it is not installed.
func jmeter() (client, bool) {
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(jmeterHTTP); err != nil || missing != nil {
		return client{}, false
	}
	return client{"jmeter", func(c testCase, base, dir string) ([]string, error) {
		if c.dynamic {
			return nil, nil
		}
		target, err := url.Parse(base)
		if err != nil {
			return nil, err
		}
		plan, launch := filepath.Join(dir, "plan.jmx"), filepath.Join(dir, "Launch.java")
		text := fmt.Sprintf(jmeterPlan, c.connections, int((c.length + jmeterWarmUp).Seconds()), target.Hostname(), target.Port(), target.Scheme, c.path)
		if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(launch, jmeterLaunch, 0o600); err != nil {
			return nil, err
		}
		return []string{java, "-Djmeter.home=" + jmeterHome, "-cp", jmeterJars, launch, "-n", "-t", plan,
			"-l", filepath.Join(dir, "jmeter.csv"), "-j", filepath.Join(dir, "jmeter.log")}, nil
	}}, true
}
