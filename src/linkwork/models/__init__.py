from .arms import *
from .arms import planar, two_link, panda, ur5, stanford, scara
from .figures import human
from .animals import quadruped, snake
from .hands import hand
from .mechanisms import *
