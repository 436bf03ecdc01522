import Tether

print(ObserverCenter.default.audit())
