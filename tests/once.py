"""What several tests need and takes long to make is made by the first worker of a run that asks for it."""

import fcntl
import os
import pickle


def once(tmp_path_factory, name, make):
    """The file that make(path) makes, in the folder that a run's workers share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / name
    with open(folder / (name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            new = folder / ("new." + name)
            make(new)
            new.rename(path)
    return path


def value(tmp_path_factory, name, make):
    """What make() returns."""
    return pickle.loads(once(tmp_path_factory, name, lambda path: path.write_bytes(pickle.dumps(make()))).read_bytes())
