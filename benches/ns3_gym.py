"""Decisions a second of ns3-gym on the scenario of `benches/steps.py`, beside it: RED, steps of 100 ms, 30 s.

    git clone --branch app-ns-3.36+ https://github.com/tkn-tub/ns3-gym
    python -m venv agent && agent/bin/pip install gymnasium numpy "protobuf<4" pyzmq psutil
    python benches/ns3_gym.py ns3-gym agent/bin/python

Needs libns3-dev, libzmq3-dev, libprotobuf-dev and protobuf-compiler (Debian 12). The program is the one that `aqmlab
export --to ns3` writes, with ns3-gym's interface beside its queue: five numbers out, one (max_p) in.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PORT = 5599
ENVIRONMENT = """
Ptr<QueueDisc> g_disc;
Ptr<OpenGymInterface> g_gym;
double g_interval = 0.1;

Ptr<OpenGymSpace> Box(uint32_t numbers)
{
    return CreateObject<OpenGymBoxSpace>(0.0, 1e9, std::vector<uint32_t>{numbers}, TypeNameGet<float>());
}
Ptr<OpenGymSpace> ActionSpace() { return Box(1); }
Ptr<OpenGymSpace> ObservationSpace() { return Box(5); }
Ptr<OpenGymDataContainer> Observation()
{
    auto box = CreateObject<OpenGymBoxContainer<float>>(std::vector<uint32_t>{5});
    const QueueDisc::Stats& stats = g_disc->GetStats();
    box->AddValue(g_disc->GetNPackets());
    box->AddValue(stats.nTotalReceivedPackets);
    box->AddValue(stats.nTotalDroppedPackets);
    box->AddValue(stats.nTotalSentPackets);
    box->AddValue(stats.nTotalSentBytes);
    return box;
}
float Reward() { return -static_cast<float>(g_disc->GetNPackets()); }
bool Over() { return false; }
std::string Information() { return ""; }
bool Act(Ptr<OpenGymDataContainer> action)
{
    float value = DynamicCast<OpenGymBoxContainer<float>>(action)->GetValue(0);
    g_disc->SetAttribute("LInterm", DoubleValue(1.0 / std::max(1e-3f, value)));
    return true;
}
void Decide()
{
    Simulator::Schedule(Seconds(g_interval), &Decide);
    g_gym->NotifyCurrentState();
}
void Begin(Ptr<QueueDisc> disc)
{
    g_disc = disc;
    g_gym = CreateObject<OpenGymInterface>(@PORT);
    g_gym->SetGetActionSpaceCb(MakeCallback(&ActionSpace));
    g_gym->SetGetObservationSpaceCb(MakeCallback(&ObservationSpace));
    g_gym->SetGetGameOverCb(MakeCallback(&Over));
    g_gym->SetGetObservationCb(MakeCallback(&Observation));
    g_gym->SetGetRewardCb(MakeCallback(&Reward));
    g_gym->SetGetExtraInfoCb(MakeCallback(&Information));
    g_gym->SetExecuteActionsCb(MakeCallback(&Act));
    Simulator::Schedule(Seconds(g_interval), &Decide);
}
"""
AGENT = """
import resource, subprocess, sys, time
import gymnasium, numpy as np
np.float, np.int, np.bool = float, int, bool
sys.modules.update({"gym": gymnasium, "gym.spaces": gymnasium.spaces, "gym.utils": gymnasium.utils})
from ns3gym import ns3env
program = subprocess.Popen(["./program"], stdout=subprocess.DEVNULL)
env = ns3env.Ns3Env(port=@PORT, startSim=False, simSeed=1)
env.reset()
actions = np.random.default_rng(1).uniform(0.02, 0.2, 64).astype(np.float32)
steps, done, cpu = 0, False, time.process_time()
while not done:
    done = env.step([actions[steps % 64]])[2]
    steps += 1
cpu = time.process_time() - cpu
program.wait()
child = resource.getrusage(resource.RUSAGE_CHILDREN)
total = cpu + child.ru_utime + child.ru_stime
print(f"{steps} steps, {steps / total:,.0f} a CPU second ({cpu:.2f} s agent, {total - cpu:.2f} s ns-3)")
"""
LIBRARIES = ["nix-vector-routing", "internet", "point-to-point", "traffic-control", "network", "core"]


def program_of(exported: str) -> str:
    """Return the exported program with ns3-gym's interface beside the queue of the bottleneck."""
    includes = '#include "ns3/double.h"\n#include "ns3/opengym-module.h"\n'
    discs = "  public:\n    Ptr<QueueDisc> Disc(const std::string& name) { return m_discs[name]; }\n\n  private:\n"
    watches = "    std::vector<std::unique_ptr<Watch>> m_watches;"
    run = "    Simulator::Run();"
    around = f'    Begin(network.Disc("bottleneck"));\n{run}\n    g_gym->NotifySimulationEnd();'
    before_running = exported.rindex("\n\n", 0, exported.index("RunAndTell("))
    text = exported[:before_running] + ENVIRONMENT.replace("@PORT", str(PORT)) + exported[before_running:]
    text = text.replace(watches, discs + watches, 1).replace(run, around, 1)
    return text.replace('#include "ns3/', includes + '#include "ns3/', 1)


def main() -> None:
    """Build the program and run the agent three times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="folder of ns3-gym")
    parser.add_argument("python", type=Path, help="Python of the agent")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        headers = place / "include" / "ns3"
        headers.mkdir(parents=True)
        sources = [path for folder in ("model", "helper") for path in (given.checkout / folder).glob("*.[ch]*")]
        for path in (path for path in sources if path.suffix == ".h"):
            shutil.copy(path, headers)
        module = "".join(f'#include "ns3/{path.name}"\n' for path in sources if path.suffix == ".h")
        (headers / "opengym-module.h").write_text(module)
        shutil.copytree(given.checkout / "model" / "ns3gym", place / "agent")
        protocol = given.checkout / "model"
        _run("protoc", f"--proto_path={protocol}", f"--cpp_out={headers}", protocol / "messages.proto")
        _run(
            "protoc",
            f"--proto_path={protocol}",
            f"--python_out={place / 'agent' / 'ns3gym'}",
            protocol / "messages.proto",
        )
        exported = place / "exported.cc"
        _run(sys.executable, "-m", "aqmlab", "export", "example:dumbbell-red", "--to", "ns3", "--out", exported)
        (place / "program.cc").write_text(program_of(exported.read_text()))
        foreign = [*(path for path in sources if path.suffix == ".cc"), headers / "messages.pb.cc"]
        libraries = [*(f"-lns3-{one}" for one in LIBRARIES), "-lzmq", "-lprotobuf"]
        flags = ["-O2", "-std=c++17", f"-I{headers.parent}", f"-I{headers}"]
        _run("g++", *flags, place / "program.cc", *foreign, "-o", place / "program", *libraries)
        (place / "agent.py").write_text(AGENT.replace("@PORT", str(PORT)))
        for _ in range(3):
            _run(given.python.absolute(), place / "agent.py", cwd=place, path=place / "agent")


def _run(*words: str | Path, cwd: Path | None = None, path: Path | None = None) -> None:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | ({"PYTHONPATH": str(path)} if path else {})
    subprocess.run([str(word) for word in words], cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    main()
